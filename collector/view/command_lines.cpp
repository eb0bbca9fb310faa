#include "collector/view/command_lines.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
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
    : command_(std::move(command)),
      over_(eventfd(0, EFD_CLOEXEC)),
      reader_([this, output, line = std::move(line)] { read_lines(output, line); }) {}

// Stops without waiting for the end of the pipe: a process that the command started may hold it too.
void CommandLines::read_lines(int output, const std::function<void(std::string)>& line) {
  std::string waiting;
  char part[4096];
  std::array<pollfd, 2> waited{pollfd{output, POLLIN, 0}, pollfd{over_, POLLIN, 0}};
  for (;;) {
    if (poll(waited.data(), waited.size(), -1) < 0 && errno != EINTR) break;
    if (waited[1].revents != 0) break;
    if (waited[0].revents == 0) continue;
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
}

CommandLines::~CommandLines() {
  command_.reset();
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t bytes = write(over_, &one, sizeof(one));
  reader_.join();
  close(over_);
}

}  // namespace hbmscope::view
