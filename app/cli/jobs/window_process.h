// The window of a command that observes a job, in a separate process.
#pragma once

#include <sys/types.h>

#include <string>

namespace hbmscope::cli {

class WindowProcess {
 public:
  WindowProcess() = default;
  WindowProcess(const WindowProcess&) = delete;
  WindowProcess& operator=(const WindowProcess&) = delete;

  // In its own session, so that Ctrl+C in this terminal only reaches the job, and the window stays when the job has
  // ended.
  void open(const std::string& socket);
  bool was_closed();  // It was opened and has ended.

 private:
  pid_t window_ = -1;
};

}  // namespace hbmscope::cli
