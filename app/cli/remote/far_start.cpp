#include "app/cli/remote/far_start.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "collector/view/far_host.h"

namespace hbmscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto kept_for = std::chrono::hours(30 * 24);

int start_pipe = -1;  // report_far_start() writes here.
bool is_started_far = false;

std::string base_folder() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/hbmscope/far";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.local/state/hbmscope/far" : std::string();
}

// Removes what was written a month ago and not since.
void remove_old(const std::string& base) {
  std::error_code error;
  std::vector<fs::path> old;
  for (fs::directory_iterator entry(base, error), end; entry != end; entry.increment(error)) {
    const auto written = fs::last_write_time(entry->path() / "recording.hbm", error);
    if (!error && fs::file_time_type::clock::now() - written > kept_for) old.push_back(entry->path());
  }
  for (const fs::path& folder : old) fs::remove_all(folder, error);
}

void copy_to(int to, const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::array<char, 4096> part{};
  for (ssize_t count = 0; file >= 0 && (count = read(file, part.data(), part.size())) > 0;)
    if (write(to, part.data(), static_cast<std::size_t>(count)) != count) break;
  if (file >= 0) close(file);
}

[[noreturn]] void run_there(const std::string& folder, std::vector<std::string> words,
                            const std::function<int(const std::vector<std::string>&)>& run) {
  setsid();
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const auto file = [&](const char* name) {
    return open((folder + "/" + name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  };
  dup2(nothing, STDIN_FILENO);
  dup2(file("stdout.txt"), STDOUT_FILENO);
  dup2(file("stderr.txt"), STDERR_FILENO);
  is_started_far = true;
  words.insert(words.begin() + 1, {"--no-window", "--record", folder + "/recording.hbm"});
  std::exit(run(words));
}

}  // namespace

void report_far_start() {
  if (start_pipe < 0) return;
  [[maybe_unused]] const ssize_t written = write(start_pipe, "!", 1);
  close(start_pipe);
  start_pipe = -1;
}

bool is_far_started() {
  return is_started_far;
}

int run_far_start(const std::vector<std::string>& words,
                  const std::function<int(const std::vector<std::string>&)>& run) {
  if (words.empty() || (words.front() != "attach" && words.front() != "run"))
    return fail(refusal("only attach and run can be started remotely", {}));
  const std::string base = base_folder();
  std::error_code error;
  if (!base.empty()) fs::create_directories(base, error);
  remove_old(base);
  const std::string folder = fmt::format("{}/{:%Y%m%dT%H%M%S}Z-{}", base, fmt::gmtime(std::time(nullptr)), getpid());
  int ends[2] = {-1, -1};
  if (base.empty() || mkdir(folder.c_str(), 0700) != 0 || pipe2(ends, O_CLOEXEC) != 0)
    return fail(refusal(fmt::format("cannot create a folder: {}", base.empty() ? "HOME is not set" : folder),
                        std::strerror(errno)));
  const pid_t process = fork();
  if (process < 0) return fail(refusal("cannot start the command", std::strerror(errno)));
  if (process == 0) {
    close(ends[0]);
    start_pipe = ends[1];
    run_there(folder, words, run);
  }
  close(ends[1]);
  char byte = 0;
  ssize_t count = 0;
  while ((count = read(ends[0], &byte, 1)) < 0 && errno == EINTR) {
  }
  if (count == 1) {
    fmt::print("{} {} {}\n", far_start_line, process, view::encoded(folder));
    return std::fflush(stdout) == 0 ? exit_ok : exit_unreadable;
  }
  int status = 0;
  waitpid(process, &status, 0);
  copy_to(STDOUT_FILENO, folder + "/stdout.txt");
  copy_to(STDERR_FILENO, folder + "/stderr.txt");
  fs::remove_all(folder, error);
  return WIFEXITED(status) ? WEXITSTATUS(status) : exit_unreadable;
}

}  // namespace hbmscope::cli
