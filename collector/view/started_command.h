// This program's own commands, started beside a viewer: the window runs, demos and attaches with them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hbmscope::view {

class StartedCommand {
 public:
  // `words` as after the program's name. Null, and why in `wrong`. The command ends with the thread that started it.
  static std::unique_ptr<StartedCommand> start(const std::vector<std::string>& words, std::string& wrong);
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
