// A line of text, built without the C++ library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hbmscope::inject {

// A text that may lack a zero at its end. What does not fit is cut off.
template <std::size_t size>
void copy_text(char (&to)[size], const char* text, std::size_t bytes) {
  if (bytes >= size) bytes = size - 1;
  std::memcpy(to, text, bytes);
  to[bytes] = 0;
}

// Text that does not fit is cut off.
struct Line {
  char text[512] = "";

  Line& add(const char* more) {
    while (length_ + 1 < sizeof(text) && *more != 0) text[length_++] = *more++;
    text[length_] = 0;
    return *this;
  }
  Line& add(const char* more, std::size_t bytes) {
    while (length_ + 1 < sizeof(text) && bytes-- > 0) text[length_++] = *more++;
    text[length_] = 0;
    return *this;
  }
  Line& add_number(std::uint64_t number) {
    char digits[21] = "";
    char* at = digits + sizeof(digits) - 1;
    do *--at = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return add(at);
  }

 private:
  std::size_t length_ = 0;
};

// Prints the line on the job's standard error, after "hbmscope: ". Prints nothing in a job that was attached to,
// because its output is its own.
void say(const Line& line);
void be_silent();

}  // namespace hbmscope::inject
