// The environment of this process as it is now, not as it was when the process was started: Python programs set
// variables themselves (os.environ[...] = ...).
#pragma once

#include <cstddef>

namespace hbmscope::inject {

// The lines "NAME=value" of the variables that may be recorded (collector/wire/reported_variables.h), each followed by
// a zero byte. Other lines are not kept.
class Environment {
 public:
  Environment();
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // False: it can't be read, or changes all the time.
  bool is_read() const { return is_read_; }
  char* begin() { return text_; }
  char* end() { return text_ + bytes_; }

 private:
  char* text_ = nullptr;
  std::size_t bytes_ = 0;
  bool is_read_ = false;
};

}  // namespace hbmscope::inject
