// A file that is read. It is a regular one: a path that a job reports may be anything, and merely opening a device can
// have an effect.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hbmscope::serve {

class RegularFile {
 public:
  explicit RegularFile(const std::string& path);
  ~RegularFile();
  RegularFile(RegularFile&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), bytes_(std::exchange(other.bytes_, 0)) {}
  RegularFile& operator=(RegularFile&&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  // All bytes or nothing.
  bool read(void* to, std::uint64_t offset, std::uint64_t bytes) const;
  template <class T>
  bool read_table(std::vector<T>& rows, std::uint64_t offset, std::uint64_t count) const {
    if (count > bytes_ / sizeof(T)) return false;
    rows.resize(count);
    return read(rows.data(), offset, count * sizeof(T));
  }

 private:
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace hbmscope::serve
