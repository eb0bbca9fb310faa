// A small lock-free table of driver objects, shared by all threads. An object that does not fit is not found. If two
// threads add the same object at once, it may get two places, and find() returns the first.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hbmscope::inject {

template <std::size_t size>
struct DriverObjects {
  static constexpr std::size_t none = size;
  std::atomic<void*> objects[size];
  std::atomic<std::uint32_t> values[size];

  std::size_t find(void* object) const {
    std::size_t place = 0;
    while (place < size && objects[place].load(std::memory_order_acquire) != object) ++place;
    return place;
  }
  std::size_t find_or_add(void* object) {
    if (const std::size_t place = find(object); place != none) return place;
    for (std::size_t place = 0; place < size; ++place) {
      void* nothing = nullptr;
      if (objects[place].compare_exchange_strong(nothing, object)) return place;
    }
    return none;
  }
  void forget(void* object) {
    for (auto& one : objects)
      if (one.load(std::memory_order_relaxed) == object) one.store(nullptr, std::memory_order_release);
  }
};

// The device of each stream: one word per stream, found in a few steps. If there is no free place, another stream is
// evicted and is unknown from then on. A stream whose handle is not a 48-bit address is never known.
class DevicesOfStreams {
 public:
  void note(void* stream, unsigned device) {
    const auto handle = reinterpret_cast<std::uint64_t>(stream);
    if (handle == 0 || handle >> device_shift != 0) return;
    std::atomic<std::uint64_t>* word = find_word(handle, handle);
    if (word == nullptr) word = find_word(handle, 0);
    if (word == nullptr) word = &words_[first_of(handle)];
    word->store(handle | std::uint64_t{device} << device_shift, std::memory_order_relaxed);
  }
  int find(void* stream) {  // Negative if it is unknown.
    const auto handle = reinterpret_cast<std::uint64_t>(stream);
    const std::atomic<std::uint64_t>* word = handle == 0 ? nullptr : find_word(handle, handle);
    const std::uint64_t there = word == nullptr ? 0 : word->load(std::memory_order_relaxed);
    return handle != 0 && (there & handle_mask) == handle ? static_cast<int>(there >> device_shift) : -1;
  }
  void forget(void* stream) {
    const auto handle = reinterpret_cast<std::uint64_t>(stream);
    std::atomic<std::uint64_t>* word = handle == 0 ? nullptr : find_word(handle, handle);
    if (word != nullptr) word->store(0, std::memory_order_relaxed);
  }

 private:
  // The first place of a handle that contains `wanted` (a handle or 0), or null.
  std::atomic<std::uint64_t>* find_word(std::uint64_t handle, std::uint64_t wanted) {
    for (std::size_t step = 0; step < steps; ++step) {
      std::atomic<std::uint64_t>& word = words_[(first_of(handle) + step) % size];
      if ((word.load(std::memory_order_relaxed) & handle_mask) == wanted) return &word;
    }
    return nullptr;
  }
  static constexpr std::size_t size = 2048, steps = 8;
  static constexpr int device_shift = 48;
  static constexpr std::uint64_t handle_mask = (std::uint64_t{1} << device_shift) - 1;
  static std::size_t first_of(std::uint64_t handle) { return (handle * 0x9e3779b97f4a7c15) >> 53; }
  std::atomic<std::uint64_t> words_[size];
};

}  // namespace hbmscope::inject
