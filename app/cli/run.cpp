#include "app/cli/run.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"
#include "collector/serve/observer.h"
#include "collector/serve/recorder.h"

namespace hbmscope::cli {
namespace {

constexpr int round_ms = 5;
constexpr int exit_not_started = 127;  // As a shell says of a command that it can't find.

volatile std::sig_atomic_t asked_to_end = 0;

void remember_signal(int signal) {
  asked_to_end = signal;
}

// Beside this program where it was built, in lib/hbmscope where it was installed.
std::optional<std::filesystem::path> find_collector() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& place : {folder, folder.parent_path() / "lib" / "hbmscope"})
    if (std::filesystem::exists(place / "libhbmscope_collector.so", error)) return place / "libhbmscope_collector.so";
  return std::nullopt;
}

// Starts the command with the collector in front of its other libraries. The child's errno where it could not be
// started comes through a pipe that a started program closes.
pid_t start(const RunOptions& options, const std::string& collector, const std::string& observer, int& start_errno) {
  std::vector<char*> words;
  for (const std::string& word : options.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const char* others = std::getenv("LD_PRELOAD");
  const std::string preload = others != nullptr && *others != 0 ? collector + ":" + others : collector;
  // AddressSanitizer refuses to start where it is not the first library; in front of what it stands for nothing is.
  const char* sanitizer_options = std::getenv("ASAN_OPTIONS");
  const std::string sanitizer = (sanitizer_options != nullptr ? sanitizer_options + std::string(":") : std::string()) +
                                "verify_asan_link_order=0";
  int pipe_ends[2] = {-1, -1};
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    start_errno = errno;
    return -1;
  }
  const pid_t job = fork();
  if (job == 0) {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGQUIT, SIG_DFL);
    setenv("LD_PRELOAD", preload.c_str(), 1);
    setenv("ASAN_OPTIONS", sanitizer.c_str(), 1);
    setenv(serve::Observer::variable, observer.c_str(), 1);
    if (options.no_follow)
      setenv(wire::no_follow_variable, "1", 1);
    else
      unsetenv(wire::no_follow_variable);
    execvp(words.front(), words.data());
    const int failed = errno;
    [[maybe_unused]] const ssize_t written = write(pipe_ends[1], &failed, sizeof(failed));
    _exit(exit_not_started);
  }
  close(pipe_ends[1]);
  if (job < 0 || read(pipe_ends[0], &start_errno, sizeof(start_errno)) != static_cast<ssize_t>(sizeof(start_errno)))
    start_errno = job < 0 ? errno : 0;
  close(pipe_ends[0]);
  return job;
}

std::string count(std::uint64_t number) {
  return text_from_count(static_cast<std::int64_t>(number));
}

void print_summary(const serve::Observer& observer, const std::string& path, std::uint64_t bytes) {
  for (const std::string& refused : observer.refused())
    fmt::print(stderr, "hbmscope: turned away {}\n", printable(refused));
  const auto processes = observer.processes();
  if (processes.empty()) {
    fmt::print(
        stderr,
        "hbmscope: no process of this command told of device memory, so nothing was recorded: none called the CUDA "
        "driver (libcuda.so.1) for memory, or had an allocator with collector/annotate/hbmscope.h. A statically linked "
        "program can't be watched from its start.\n");
    return;
  }
  std::uint64_t events = 0, lost = 0;
  for (const auto& process : processes) {
    events += process.events;
    lost += process.lost;
    if (process.is_broken)
      fmt::print(stderr,
                 "hbmscope: process {} wrote over memory of its collector; what it told after that is missing\n",
                 process.pid);
  }
  fmt::print(stderr, "hbmscope: {} events of {} {}, {} lost, in {} ({}). hbmscope {} shows them.\n", count(events),
             count(processes.size()), processes.size() == 1 ? "process" : "processes", count(lost), printable(path),
             text_from_bytes(bytes), printable(path));
}

}  // namespace

int run_job(const RunOptions& options) {
  const auto collector = find_collector();
  if (!collector || collector->string().find_first_of(" :") != std::string::npos)
    return fail({collector ? fmt::format("the path of the collector has a blank or a colon: {}", collector->string())
                           : "libhbmscope_collector.so is missing",
                 "It belongs beside hbmscope or into lib/hbmscope; the loader takes no blank or colon in its path.",
                 {},
                 {},
                 false});
  const std::string path =
      options.record.empty()
          ? fmt::format("{}.{}.hbm", std::filesystem::path(options.command.front()).filename().string(), getpid())
          : options.record;
  serve::Recorder recorder;
  if (const auto wrong = recorder.open(path))
    return fail({*wrong, "Name another file with --record.", path, {}, false});
  serve::Observer observer([&](const auto& block) {
    const bool was_well = !recorder.failure();
    recorder.append(*block);
    if (was_well && recorder.failure())
      fmt::print(stderr, "hbmscope: the recording ends here, the job goes on: {}\n", printable(*recorder.failure()));
  });
  if (const auto wrong = observer.open())
    return fail({*wrong, "Set XDG_RUNTIME_DIR to a folder of yours that nobody else may enter.", {}, {}, false});
  // A terminal's Ctrl+C reaches the job too, and it is the job's to end.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGQUIT, SIG_IGN);
  std::signal(SIGTERM, remember_signal);
  std::signal(SIGHUP, remember_signal);
  int start_errno = 0;
  const pid_t job = start(options, collector->string(), observer.socket_path(), start_errno);
  int status = 0;
  if (start_errno != 0) {
    if (job > 0) waitpid(job, &status, 0);
    std::filesystem::remove(path);
    fail({fmt::format("{} can't be started: {}", options.command.front(), std::strerror(start_errno)),
          "Write the command after two dashes: hbmscope run -- python train.py",
          {},
          {},
          false});
    return exit_not_started;
  }
  bool is_busy = false;
  while (waitpid(job, &status, WNOHANG) == 0) {
    if (asked_to_end != 0) kill(job, std::exchange(asked_to_end, 0));
    is_busy = observer.serve(is_busy ? 0 : round_ms);
  }
  observer.finish();
  recorder.finish();
  print_summary(observer, path, recorder.bytes());
  if (observer.processes().empty()) std::filesystem::remove(path);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace hbmscope::cli
