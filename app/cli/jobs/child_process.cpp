#include "app/cli/jobs/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "analysis/units/utf8.h"

namespace hbmscope::cli {
namespace {

std::string read_all(int from) {
  std::string text;
  std::array<char, 65'536> part;
  while (true) {
    const ssize_t count = read(from, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    if (text.size() < child_output_bytes_max) text.append(part.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

int exit_code_from(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result<ChildOutput> run_and_read(std::vector<std::string> words, const ChildSettings& settings) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Failure(refusal("there are too many open files", std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (!settings.messages.empty())
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, settings.messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0644);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  ChildOutput output;
  if (failed == 0 && settings.has_started) settings.has_started(pid);
  if (failed == 0) output.text = read_all(ends[0]);
  close(ends[0]);
  if (failed != 0)
    return Failure(refusal(fmt::format("cannot start '{}': {}", printable(words[0]), std::strerror(failed)),
                           "Check its path and permissions."));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  output.exit_code = exit_code_from(status);
  return output;
}

}  // namespace hbmscope::cli
