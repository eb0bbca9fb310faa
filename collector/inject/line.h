// A line of text, built without the C++ library.
#pragma once

#include <cstddef>

namespace hbmscope::inject {

// Text that does not fit is cut off.
struct Line {
  char text[512] = "";

  Line& add(const char* more) {
    while (length_ + 1 < sizeof(text) && *more != 0) text[length_++] = *more++;
    text[length_] = 0;
    return *this;
  }
  Line& add_number(unsigned number) {
    char digits[11] = "";
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
