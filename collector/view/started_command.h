// This program's own commands, started beside a viewer: the window runs, demos and attaches with them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hbmscope::view {

class StartedCommand {
 public:
  static inline std::string program = "/proc/self/exe";  // What is started; a test that is no hbmscope says which.

  // `words` as after the program's name. Null, and why in `wrong`. The command ends with the thread that started it.
  // `output`: where what it prints is to be read, with errors; null: it goes where this program's goes.
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
