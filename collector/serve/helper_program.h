// A small program of hbmscope's own that runs beside it and answers over a socket, which is its standard input and
// output; what it prints as errors is dropped. It ends with this object, and also if hbmscope is killed. For one thread
// at a time.
#pragma once

#include <sys/types.h>

#include <string>

namespace hbmscope::serve {

class HelperProgram {
 public:
  // `kind`: of the socket, SOCK_STREAM or SOCK_SEQPACKET.
  HelperProgram(const char* name, int kind) : name_(name), kind_(kind) {}
  ~HelperProgram() { end(); }
  HelperProgram(const HelperProgram&) = delete;
  HelperProgram& operator=(const HelperProgram&) = delete;

  // False if it is not installed or can't be started. Whether it really starts is known when it answers.
  bool start();
  bool is_started() const { return process_ > 0; }
  int socket() const { return socket_; }
  void end();
  // Its path, if it is there. It is next to this program where it was built or copied to, and in lib/hbmscope
  // where it was installed.
  static std::string find(const char* name);

 private:
  const char* name_;
  int kind_;
  pid_t process_ = -1;
  int socket_ = -1;
};

}  // namespace hbmscope::serve
