#include "app/cli/export/parquet.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "analysis/units/utf8.h"
#include "app/cli/export/parquet_driver.h"

namespace hbmscope::cli {
namespace {

// A process that reads what is written to it.
class Reader {
 public:
  Reader() = default;
  ~Reader() {
    close_pipe();
    if (pid_ > 0) wait();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // 0, or an errno.
  int start(const std::string& python, const std::string& file) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    std::string words[] = {python, "-c", parquet_driver, file};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
    const int failed = posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    pipe_ = ends[1];
    if (failed != 0) pid_ = 0;
    return failed;
  }

  // False if the reader is gone.
  bool write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(pipe_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

  // Ends the input and returns the reader's exit code.
  int finish() {
    close_pipe();
    return wait();
  }

 private:
  void close_pipe() {
    if (pipe_ >= 0) close(pipe_);
    pipe_ = -1;
  }
  int wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  pid_t pid_ = 0;
  int pipe_ = -1;
};

}  // namespace

Result<void> write_parquet(const std::string& python, const std::string& output,
                           const std::function<ExportEnd(const TextSink&)>& write) {
  const std::string partial = output + ".partial";
  // A reader that ends early must not end this program.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Reader reader;
  const int failed = reader.start(python, partial);
  const ExportEnd end =
      failed != 0 ? ExportEnd::refused : write([&](std::string_view text) { return reader.write(text); });
  const int code = failed != 0 ? 0 : reader.finish();
  std::signal(SIGPIPE, before);
  if (failed != 0)
    return Failure(refusal(fmt::format("cannot start '{}': {}", printable(python), std::strerror(failed)),
                           "Name a Python that has pyarrow with --python."));
  const bool is_whole = code == 0 && end == ExportEnd::whole;
  if (is_whole && std::rename(partial.c_str(), output.c_str()) == 0) return {};
  const int why = errno;
  std::remove(partial.c_str());
  if (code == parquet_without_pyarrow || code == parquet_with_broken_pyarrow)
    return Failure(
        refusal(fmt::format("the Python '{}' has no {}, which is needed to write Parquet", printable(python),
                            code == parquet_without_pyarrow ? "pyarrow" : "pyarrow that works"),
                fmt::format("Run {} -m pip install {}pyarrow, or name another Python with --python.", printable(python),
                            code == parquet_without_pyarrow ? "" : "--force-reinstall ")));
  if (code != 0)
    return Failure(refusal(fmt::format("cannot write Parquet: Python exited with code {}", code),
                           "Its messages are above.", output));
  return Failure(is_whole ? refusal(fmt::format("cannot write the file: {}", std::strerror(why)),
                                    "Check the free space and the permissions of the folder.", output)
                          : refusal("writing Parquet was cancelled", "No file was left behind.", output));
}

}  // namespace hbmscope::cli
