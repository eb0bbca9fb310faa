#include "collector/view/command_lines.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace hbmscope::view {

std::unique_ptr<CommandLines> CommandLines::start(const std::vector<std::string>& words,
                                                  std::function<void(std::string)> line, std::string& wrong) {
  int output = -1;
  auto command = StartedCommand::start(words, wrong, &output);
  if (command == nullptr) return nullptr;
  return std::unique_ptr<CommandLines>(new CommandLines(std::move(command), output, std::move(line)));
}

CommandLines::CommandLines(std::unique_ptr<StartedCommand> command, int output, std::function<void(std::string)> line)
    : command_(std::move(command)), reader_([this, output, line = std::move(line)] {
        std::string waiting;
        char part[4096];
        for (;;) {
          const ssize_t bytes = read(output, part, sizeof(part));
          if (bytes < 0 && errno == EINTR) continue;
          if (bytes <= 0) break;
          waiting.append(part, static_cast<std::size_t>(bytes));
          for (std::size_t end = 0; (end = waiting.find('\n')) != std::string::npos; waiting.erase(0, end + 1))
            line(waiting.substr(0, end));
        }
        if (!waiting.empty()) line(waiting);
        close(output);
        has_ended_ = true;
      }) {}

CommandLines::~CommandLines() {
  command_.reset();
  reader_.join();
}

}  // namespace hbmscope::view
