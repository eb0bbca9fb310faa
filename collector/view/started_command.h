// Commands of this program that a viewer starts: the window uses them to run jobs, demos and attaches.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hbmscope::view {

class StartedCommand {
 public:
  // The program to start; a test, which is not hbmscope, sets it.
  static inline std::string program = "/proc/self/exe";

  // `words`: the arguments after the program's name. Returns null on failure, with the reason in `wrong`. The command
  // ends with the thread that started it. `output`: receives a descriptor from which its output and errors can be read;
  // null: they go where those of this program go.
  static std::unique_ptr<StartedCommand> start(const std::vector<std::string>& words, std::string& wrong,
                                               int* output = nullptr);
  ~StartedCommand();  // Asks it to end, and waits.
  StartedCommand(const StartedCommand&) = delete;
  StartedCommand& operator=(const StartedCommand&) = delete;

  std::int64_t pid() const { return pid_; }
  void write_line(const std::string& line) const;  // Writes to its standard input.

 private:
  StartedCommand(std::int64_t pid, int input) : pid_(pid), input_(input) {}
  std::int64_t pid_;
  int input_;
};

}  // namespace hbmscope::view
