// Starts one of this program's commands and reads the lines that it prints.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "collector/view/started_command.h"

namespace hbmscope::view {

class CommandLines {
 public:
  // `line` is called from a separate thread, without the line's end. Returns null on failure, with the reason in
  // `wrong`. The command ends with the thread that started it.
  static std::unique_ptr<CommandLines> start(const std::vector<std::string>& words,
                                             std::function<void(std::string)> line, std::string& wrong);
  ~CommandLines();  // Asks it to end, and waits.
  CommandLines(const CommandLines&) = delete;
  CommandLines& operator=(const CommandLines&) = delete;

  std::int64_t pid() const { return command_->pid(); }
  bool has_ended() const { return has_ended_; }  // It has printed everything, or only closed its output.

 private:
  CommandLines(std::unique_ptr<StartedCommand> command, int output, std::function<void(std::string)> line);

  void read_lines(int output, const std::function<void(std::string)>& line);

  std::unique_ptr<StartedCommand> command_;
  int over_;
  std::atomic<bool> has_ended_{false};
  std::thread reader_;
};

}  // namespace hbmscope::view
