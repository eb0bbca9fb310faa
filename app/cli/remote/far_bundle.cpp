#include "app/cli/remote/far_bundle.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/jobs/child_process.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

// The C library version that the collector needs in a job (tests/collector/symbols_test.py).
constexpr int glibc_major = 2, glibc_minor = 18;

// An answer is a few lines plus an archive's list of errors; a host that prints more is not the expected one.
constexpr std::size_t said_max = std::size_t{8} << 20;

struct Said {
  int code = -1;  // 128 + the signal if a signal ended it.
  std::string output, errors;
};

// `keeps_errors`: returns standard error instead of printing it.
Said listen(const std::string& host, const std::string& command, int input, bool keeps_errors) {
  Said said;
  int output[2] = {-1, -1}, errors[2] = {-1, -1};
  if (pipe2(output, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0) return said;
  const pid_t ssh = view::start_ssh(host, command, input, output[1], keeps_errors ? errors[1] : -1, false, said.errors);
  close(output[1]);
  close(errors[1]);
  std::array<pollfd, 2> waited{pollfd{output[0], POLLIN, 0}, pollfd{errors[0], POLLIN, 0}};
  // Stop when the command ends, since another process may keep the pipe open (e.g. a master connection that ssh left
  // behind).
  constexpr int round_ms = 100;
  int status = 0;
  pid_t ended = 0;
  while (ssh > 0 && (waited[0].fd >= 0 || waited[1].fd >= 0)) {
    if (ended == 0) ended = waitpid(ssh, &status, WNOHANG);
    const int ready = poll(waited.data(), waited.size(), ended == 0 ? round_ms : 0);
    if ((ready < 0 && errno != EINTR) || (ready == 0 && ended != 0)) break;
    if (said.output.size() + said.errors.size() > said_max) {
      kill(ssh, SIGKILL);
      said.errors = "its answer is too long";
      break;
    }
    for (std::size_t i = 0; i < waited.size(); ++i) {
      if (waited[i].fd < 0 || waited[i].revents == 0) continue;
      std::array<char, 4096> part{};
      const ssize_t count = read(waited[i].fd, part.data(), part.size());
      if (count > 0)
        (i == 0 ? said.output : said.errors).append(part.data(), static_cast<std::size_t>(count));
      else if (count == 0 || errno != EINTR)
        waited[i].fd = -1;
    }
  }
  close(output[0]);
  close(errors[0]);
  if (ssh <= 0 || (ended == 0 && waitpid(ssh, &status, 0) != ssh)) return said;
  said.code = exit_code_from(status);
  return said;
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

// Prints the message of whatever failed.
int refuse_failure(const std::string& host, const Said& said) {
  const std::string words = printable(trimmed(said.errors));
  if (said.code == view::ssh_failed || said.code < 0 || said.code > 128)
    return fail(refusal(fmt::format("cannot reach {}: {}", host, words.empty() ? "ssh printed no reason" : words),
                        fmt::format("Check that `ssh {} true` works.", host)));
  return fail(refusal(fmt::format("{} answered with exit code {}: {}", host, said.code, words),
                      "It needs a POSIX shell, tar, gzip and sha256sum."));
}

// One line per question. Anything else printed there (a greeting) begins differently. It contains no inner quote,
// backslash or exclamation mark, so that any shell of the remote user passes it on unchanged.
std::string probe(const std::string& identity) {
  return fmt::format(
      "sh -c 'c=\"$HOME/.cache/hbmscope\"; d=\"$c/{}\"; echo hbmscope-machine $(uname -s) $(uname -m); "
      "echo hbmscope-libc $(getconf GNU_LIBC_VERSION 2>/dev/null); echo hbmscope-uid $(id -u); "
      "echo hbmscope-cache $(stat -c \"%u %a\" \"$c\" 2>/dev/null); "
      "echo hbmscope-folder $(stat -c \"%u %a\" \"$d\" 2>/dev/null); "
      "cd \"$d\" 2>/dev/null && sha256sum -c SHA256SUMS >/dev/null 2>&1 && "
      "echo hbmscope-sum $(sha256sum SHA256SUMS | cut -c1-16); true'",
      identity);
}

// Unpacks next to the final place first, so that the final folder is always complete.
std::string install(const std::string& identity) {
  return fmt::format(
      "sh -c 'umask 077; c=\"$HOME/.cache/hbmscope\"; d=\"$c/{}\"; p=\"$d.$$\"; mkdir -p \"$c\" && rm -rf \"$p\" && "
      "mkdir \"$p\" && tar -xzof - -C \"$p\" && cd \"$p\" && sha256sum -c SHA256SUMS >/dev/null && cd \"$c\" && "
      "rm -rf \"$d\" && mv \"$p\" \"$d\" && echo hbmscope-copied; e=$?; rm -rf \"$p\"; exit $e'",
      identity);
}

std::map<std::string, std::string> named_lines_of(const std::string& output) {
  std::map<std::string, std::string> found;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view ours = "hbmscope-";
    if (!line.starts_with(ours)) continue;
    line = trimmed(line).substr(ours.size());
    const std::size_t blank = line.find(' ');
    found[line.substr(0, blank)] = blank == std::string::npos ? "" : line.substr(blank + 1);
  }
  return found;
}

std::optional<std::string> find_system_fault(std::map<std::string, std::string>& reported, const view::Bundle& bundle) {
  std::istringstream machine(reported["machine"]);
  std::string system, name;
  machine >> system >> name;
  if (system != "Linux") return fmt::format("runs {}, and hbmscope observes jobs on Linux only", printable(system));
  if (name != bundle.machine)
    return fmt::format("has the architecture {}, and this hbmscope can only be copied to {} machines", printable(name),
                       bundle.machine);
  std::istringstream library(reported["libc"]);
  int major = 0, minor = 0;
  char dot = 0;
  if (!(library >> name >> major >> dot >> minor) || name != "glibc")
    return fmt::format("has no glibc, and the collector needs glibc {}.{} or newer", glibc_major, glibc_minor);
  if (major < glibc_major || (major == glibc_major && minor < glibc_minor))
    return fmt::format("has glibc {}.{}, and the collector needs {}.{} or newer", major, minor, glibc_major,
                       glibc_minor);
  return std::nullopt;
}

// The fault of a folder, reported as "0 700": it belongs to another user, or others may write to it. Nothing if it does
// not exist.
std::optional<std::string> find_folder_fault(const std::string& reported, const std::string& uid) {
  std::istringstream words(reported);
  std::string owner, mode;
  if (!(words >> owner >> mode)) return std::nullopt;
  if (owner != uid) return "belongs to another user, number " + printable(owner);
  if ((std::strtol(mode.c_str(), nullptr, 8) & 022) != 0) return "is writable by others (mode " + printable(mode) + ")";
  return std::nullopt;
}

bool is_agreed(const FarOptions& options, const view::Bundle& bundle) {
  if (options.yes) return true;
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) return false;
  fmt::print(stderr, "hbmscope is not on {} yet. Copy {} to ~/.cache/hbmscope/{} there? [y/N] ", options.host,
             text_from_bytes(static_cast<std::int64_t>(bundle.bytes)), bundle.identity);
  std::fflush(stderr);
  std::array<char, 16> answer{};
  return std::fgets(answer.data(), answer.size(), stdin) != nullptr && (answer[0] == 'y' || answer[0] == 'Y');
}

// What the other machine prints is passed on without control characters: it decides what a job there is called.
class LinesFromThere {
 public:
  explicit LinesFromThere(int to) : to_(to) {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  ~LinesFromThere() {
    for (const int one : ends_)
      if (one >= 0) close(one);
  }
  LinesFromThere(const LinesFromThere&) = delete;
  LinesFromThere& operator=(const LinesFromThere&) = delete;

  bool is_open() const { return ends_[0] >= 0; }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_write_end() {
    if (ends_[1] >= 0) close(std::exchange(ends_[1], -1));
  }
  void pass_on() {
    std::array<char, 16384> part{};
    const ssize_t bytes = read(ends_[0], part.data(), part.size());
    if (bytes < 0 && errno == EINTR) return;
    if (bytes > 0) waiting_.append(part.data(), static_cast<std::size_t>(bytes));
    // Whole lines only, because a character may have arrived in part.
    std::size_t end = waiting_.rfind('\n') + 1;
    if (bytes <= 0 || waiting_.size() - end > line_bytes_max) end = waiting_.size();
    print(printable_lines(waiting_.substr(0, end)));
    waiting_.erase(0, end);
    if (bytes <= 0) close(std::exchange(ends_[0], -1));
  }

 private:
  static constexpr std::size_t line_bytes_max = 65536;

  void print(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = write(to_, text.data(), text.size());
      if (written < 0 && errno != EINTR) return;
      if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  int to_;
  std::array<int, 2> ends_{-1, -1};
  std::string waiting_;
};

std::optional<view::Bundle> find_bundle_for(const std::string& host) {
  auto bundle = view::find_bundle();
  if (!bundle)
    fail(refusal(fmt::format("this hbmscope has no server bundle to copy to {}", host),
                 "Build it with make bundle, or set HBMSCOPE_SERVER_BUNDLE to its folder."));
  return bundle;
}

}  // namespace

std::optional<int> take_host_from(std::string& job, FarOptions& options) {
  const auto far = view::far_job_from(job);
  if (!far) return std::nullopt;
  if (!options.host.empty() && options.host != far->host)
    return fail(
        refusal(fmt::format("there are two machines: {} and {}", options.host, far->host), "Remove one of them."));
  options.host = far->host;
  job = far->process;
  return std::nullopt;
}

std::optional<int> prepare_host(const FarOptions& options) {
  if (!options.ssh.empty()) setenv(view::ssh_variable, options.ssh.c_str(), 1);
  if (const std::string fault = view::find_host_fault(options.host); !fault.empty()) return fail(refusal(fault, {}));
  const auto bundle = find_bundle_for(options.host);
  if (!bundle) return exit_usage;
  const Said probed = listen(options.host, probe(bundle->identity), -1, true);
  auto reported = named_lines_of(probed.output);
  if (probed.code != 0 || reported["machine"].empty()) return refuse_failure(options.host, probed);
  if (const auto fault = find_system_fault(reported, *bundle))
    return fail(refusal(fmt::format("{} {}", options.host, *fault), {}));
  for (const char* folder : {"cache", "folder"})
    if (const auto fault = find_folder_fault(reported[folder], reported["uid"]))
      return fail(
          refusal(fmt::format("~/.cache/hbmscope{} on {} {}, so hbmscope starts nothing from it",
                              std::string(folder) == "cache" ? "" : "/" + bundle->identity, options.host, *fault),
                  "Make it writable by you alone, or remove it."));
  if (!reported["sum"].empty() && bundle->identity.ends_with("-" + reported["sum"])) return std::nullopt;
  if (!is_agreed(options, *bundle))
    return fail(refusal(fmt::format("{}: {}", options.host, view::not_there_yet),
                        fmt::format("Add --yes to copy {} to ~/.cache/hbmscope/{} there, or run it in a terminal.",
                                    text_from_bytes(static_cast<std::int64_t>(bundle->bytes)), bundle->identity)));
  const int archive = open(bundle->archive.c_str(), O_RDONLY | O_CLOEXEC);
  if (archive < 0) return fail(refusal("cannot read the file", {}, bundle->archive));
  const Said copied = listen(options.host, install(bundle->identity), archive, true);
  close(archive);
  if (named_lines_of(copied.output).count("copied") == 0) return refuse_failure(options.host, copied);
  return std::nullopt;
}

int run_there(const FarOptions& options, const std::vector<std::string>& words) {
  const auto bundle = find_bundle_for(options.host);
  if (!bundle) return exit_usage;
  LinesFromThere output(STDOUT_FILENO), errors(STDERR_FILENO);
  std::string wrong = "it has no pipe";
  const pid_t ssh = output.is_open() && errors.is_open()
                        ? view::start_ssh(options.host, view::far_command(bundle->identity, words), -1,
                                          output.write_end(), errors.write_end(), false, wrong)
                        : -1;
  output.close_write_end();
  errors.close_write_end();
  if (ssh <= 0) return fail(refusal("cannot start ssh: " + wrong, {}));
  while (output.is_open() || errors.is_open()) {
    pollfd waited[2] = {{output.read_end(), POLLIN, 0}, {errors.read_end(), POLLIN, 0}};
    if (poll(waited, 2, -1) < 0 && errno != EINTR) break;
    if (waited[0].revents != 0) output.pass_on();
    if (waited[1].revents != 0) errors.pass_on();
  }
  int status = 0;
  while (waitpid(ssh, &status, 0) < 0 && errno == EINTR) {
  }
  return exit_code_from(status);
}

std::string read_from_there(const FarOptions& options, const std::vector<std::string>& words, int& code) {
  const auto bundle = find_bundle_for(options.host);
  if (!bundle) {
    code = exit_usage;
    return {};
  }
  const Said said = listen(options.host, view::far_command(bundle->identity, words), -1, false);
  code = said.code;
  return said.output;
}

}  // namespace hbmscope::cli
