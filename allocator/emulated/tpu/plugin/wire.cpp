#include "allocator/emulated/tpu/plugin/wire.h"

#include <algorithm>
#include <utility>

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
  if (at_ >= end_ || is_damaged_) return false;
  is_damaged_ = !read_field();
  return !is_damaged_;
}

bool Fields::read_field() {
  std::uint64_t key = 0;
  if (!read_number(key)) return false;
  number_ = static_cast<unsigned>(key >> 3);
  kind_ = static_cast<unsigned>(key & 7);
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
  if (size > static_cast<std::uint64_t>(end_ - at_)) return false;
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

namespace {

bool is_map_entry(std::string_view message) {
  Fields fields(message);
  if (!fields.next() || fields.number() != 1 || !fields.is_message() || fields.bytes().empty()) return false;
  const std::string_view key = fields.bytes();
  const bool is_name = std::all_of(key.begin(), key.end(), [](unsigned char c) { return c > ' ' && c < 127; });
  return is_name && fields.next() && fields.number() == 2 && fields.is_at_end();
}

}  // namespace

std::string with_sorted_maps(std::string_view message) {
  struct Part {
    unsigned number;
    bool is_entry;
    std::string bytes;  // With its key.
  };
  std::vector<Part> parts;
  Fields fields(message);
  for (const char* begin = message.data(); fields.next(); begin = fields.position()) {
    Part part{fields.number(), false, std::string(begin, fields.position())};
    if (fields.is_message()) {
      part.is_entry = is_map_entry(fields.bytes());
      part.bytes.clear();
      add_bytes_field(part.bytes, fields.number(), with_sorted_maps(fields.bytes()));
    }
    parts.push_back(std::move(part));
  }
  if (!fields.is_at_end()) return std::string(message);  // A text, not a message.
  for (auto begin = parts.begin(); begin != parts.end();) {
    const auto end = std::find_if(begin, parts.end(),
                                  [&](const Part& part) { return part.number != begin->number || !part.is_entry; });
    if (end == begin) {
      ++begin;
      continue;
    }
    std::sort(begin, end, [](const Part& a, const Part& b) { return a.bytes < b.bytes; });
    begin = end;
  }
  std::string sorted;
  for (const Part& part : parts) sorted += part.bytes;
  return sorted;
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
