// A workload's view of a device: it creates arrays, which are freed when they go out of scope.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

namespace hbmscope::allocator::workload {

struct Frame {
  const char* function;
  const char* file;
  unsigned line;
};

// A place in the program that makes arrays, and the purpose of those arrays. Static: identified by its address.
struct Site {
  std::span<const Frame> frames;  // Innermost first.
  const char* tag;
};

// Thrown by allocate(), as a framework would. Arrays in scope are freed on the way.
struct OutOfMemory {
  std::uint64_t requested_bytes = 0;
};

enum class Phase : std::uint8_t { instant, begins, ends };

class Device {
 public:
  virtual ~Device() = default;
  // `bytes` must be above 0. Throws OutOfMemory, or whatever ends the program.
  virtual std::uint64_t allocate(std::uint64_t bytes, const Site& site) = 0;
  virtual void free(std::uint64_t address) noexcept = 0;
  // `name` must be static.
  virtual void mark(const char* name, Phase phase) = 0;
  // The program does other work for that long.
  virtual void rest(double seconds) = 0;
};

class Array {
 public:
  Array() = default;
  Array(Device& device, std::uint64_t bytes, const Site& site)
      : device_(&device), address_(device.allocate(bytes, site)) {}
  ~Array() { reset(); }
  Array(Array&& other) noexcept : device_(std::exchange(other.device_, nullptr)), address_(other.address_) {}
  Array& operator=(Array&& other) noexcept {
    if (this == &other) return *this;
    reset();
    device_ = std::exchange(other.device_, nullptr);
    address_ = other.address_;
    return *this;
  }

  void reset() noexcept {
    if (device_ != nullptr) std::exchange(device_, nullptr)->free(address_);
  }

 private:
  Device* device_ = nullptr;
  std::uint64_t address_ = 0;
};

}  // namespace hbmscope::allocator::workload
