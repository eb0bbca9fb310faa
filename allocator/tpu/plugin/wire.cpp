#include "allocator/tpu/plugin/wire.h"

namespace hbmscope::allocator::tpu::plugin {

bool Fields::read_number(std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; at_ < end_ && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at_++);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

bool Fields::next() {
  std::uint64_t key = 0;
  if (at_ >= end_ || !read_number(key)) return false;
  number_ = static_cast<unsigned>(key >> 3);
  kind_ = static_cast<unsigned>(key & 7);
  const auto left = [&] { return static_cast<std::uint64_t>(end_ - at_); };
  std::uint64_t size = 0;
  switch (kind_) {
    case 0: return read_number(value_);
    case 1: size = 8; break;
    case 2:
      if (!read_number(size)) return false;
      break;
    case 5: size = 4; break;
    default: return false;
  }
  if (size > left()) return false;
  bytes_ = std::string_view(at_, size);
  at_ += size;
  return true;
}

void Fields::add_to(std::vector<std::int64_t>& numbers) const {
  if (!is_message()) {
    numbers.push_back(static_cast<std::int64_t>(value_));
    return;
  }
  Fields packed(bytes_);
  for (std::uint64_t value = 0; packed.at_ < packed.end_ && packed.read_number(value);)
    numbers.push_back(static_cast<std::int64_t>(value));
}

void add_number(std::string& message, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) message += static_cast<char>((value & 0x7F) | 0x80);
  message += static_cast<char>(value);
}

void add_number_field(std::string& message, unsigned field, std::uint64_t value) {
  add_number(message, field << 3);
  add_number(message, value);
}

void add_bytes_field(std::string& message, unsigned field, std::string_view bytes) {
  add_number(message, field << 3 | 2);
  add_number(message, bytes.size());
  message += bytes;
}

}  // namespace hbmscope::allocator::tpu::plugin
