// Reads the wire format of protocol buffers, as far as the plugin needs it: which fields a message has. The library of
// protocol buffers would meet jaxlib's copy in the same process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hbmscope::allocator::tpu::plugin {

// The fields of a message, one after the other. A damaged message ends early.
class Fields {
 public:
  explicit Fields(std::string_view message) : at_(message.data()), end_(message.data() + message.size()) {}

  bool next();
  unsigned number() const { return number_; }
  bool is_at_end() const { return at_ == end_ && !is_damaged_; }
  const char* position() const { return at_; }    // After the field.
  bool is_message() const { return kind_ == 2; }  // Or a text, or packed numbers.
  std::uint64_t value() const { return value_; }  // For a number.
  std::string_view bytes() const { return bytes_; }
  // A repeated number, packed or not.
  void add_to(std::vector<std::int64_t>& numbers) const;

 private:
  bool read_field();
  bool read_number(std::uint64_t& value);

  const char *at_, *end_;
  unsigned number_ = 0, kind_ = 0;
  std::uint64_t value_ = 0;
  std::string_view bytes_;
  bool is_damaged_ = false;
};

// The same message, with the entries of its maps sorted: the library of protocol buffers writes them in any order. An
// entry of a map is known by its form: a text as field 1, then field 2.
std::string with_sorted_maps(std::string_view message);

void add_number(std::string& message, std::uint64_t value);
void add_number_field(std::string& message, unsigned field, std::uint64_t value);
void add_bytes_field(std::string& message, unsigned field, std::string_view bytes);

}  // namespace hbmscope::allocator::tpu::plugin
