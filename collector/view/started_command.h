// This program's own commands, started by a viewer: the window runs jobs, demos and attaches with them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hbmscope::view {

class StartedCommand {
 public:
  static inline std::string program = "/proc/self/exe";  // The program to start; a test that is no hbmscope sets it.

  // `words`: the arguments after the program's name. Null, and the reason in `wrong`. The command ends with the thread
  // that started it. `output`: from where its output, errors included, can be read; null: it goes where this program's
  // goes.
  static std::unique_ptr<StartedCommand> start(const std::vector<std::string>& words, std::string& wrong,
                                               int* output = nullptr);
  ~StartedCommand();  // Asks it to end, and waits.
  StartedCommand(const StartedCommand&) = delete;
  StartedCommand& operator=(const StartedCommand&) = delete;

  std::int64_t pid() const { return pid_; }
  void tell(const std::string& line) const;  // On its standard input.

 private:
  StartedCommand(std::int64_t pid, int input) : pid_(pid), input_(input) {}
  std::int64_t pid_;
  int input_;
};

}  // namespace hbmscope::view
