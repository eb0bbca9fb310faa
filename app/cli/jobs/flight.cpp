#include "app/cli/jobs/flight.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "analysis/units/exit_text.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/export/output_file.h"
#include "app/cli/terminal.h"
#include "collector/link/meeting_place.h"

namespace hbmscope::cli {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

constexpr std::size_t notes_a_minute = 6;

// Created if it is missing. Not in the folder of another user: under sudo -E, HOME is still the user's, and what root
// creates there would lock the user out. Empty if there is none, and `wrong` says why.
std::string make_default_folder(std::string& wrong) {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  std::string folder;
  if (state != nullptr && *state == '/')
    folder = std::string(state) + "/hbmscope/flights";
  else if (home != nullptr && *home == '/')
    folder = std::string(home) + "/.local/state/hbmscope/flights";
  else
    wrong = "neither XDG_STATE_HOME nor HOME is set";
  if (folder.empty() || link::make_own_folders(folder)) return folder;
  const std::string instead = "/var/tmp/hbmscope-" + std::to_string(getuid());
  if (link::make_own_folders(instead) && link::is_private_folder(instead) &&
      link::make_own_folders(instead + "/flights"))
    return instead + "/flights";
  wrong = folder + " is not a folder of this user";
  return {};
}

std::string file_name_from(const std::string& name) {
  constexpr std::size_t bytes_max = 40;
  std::string safe = name.substr(0, bytes_max);
  for (char& one : safe)
    if (std::isalnum(static_cast<unsigned char>(one)) == 0 && one != '.' && one != '_') one = '_';
  return safe;
}

// Never overwrites an existing file.
bool write_new_file(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool is_whole = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  return close(file) == 0 && is_whole;
}

std::string text_from(const serve::Failure& failure) {
  std::string text;
  const std::string heap = failure.heap.empty() ? std::string() : fmt::format(" of {}", printable(failure.heap));
  if (failure.is_refusal) {
    text = fmt::format("the driver refused {} for process {}",
                       failure.requested_bytes == 0 ? "a call" : text_from_bytes(failure.requested_bytes) + heap,
                       failure.pid);
    if (!failure.what.empty()) text += fmt::format(" ({})", printable(failure.what));
    if (failure.free_bytes) text += fmt::format("; {} was free on the device", text_from_bytes(*failure.free_bytes));
    text += ", and no retry followed";
  } else {
    text = fmt::format("process {} ran out of memory: it requested {}{}", failure.pid,
                       text_from_bytes(failure.requested_bytes), heap);
    if (!failure.what.empty()) text += fmt::format(" ({})", printable(failure.what));
  }
  if (failure.times > 1) text += fmt::format(", and {} more", text_from_count(failure.times - 1));
  return text;
}

// Signals that end a job on purpose do not count as failures.
bool is_fatal(int signal) {
  return signal != SIGINT && signal != SIGTERM && signal != SIGHUP && signal != SIGPIPE;
}

}  // namespace

Flight::Flight(const FlightOptions& options, std::string name, std::string recording)
    : options_(options), name_(std::move(name)), recording_(path_from_root(recording)) {}

Flight::~Flight() {
  if (lock_ < 0) return;
  if (!has_notes_) remove_folder();  // The job could not be started.
  close(lock_);
}

void Flight::open() {
  if (options_.is_off) return;
  std::error_code error;
  if (options_.folder.empty()) {
    std::string wrong;
    base_ = make_default_folder(wrong);
    if (base_.empty()) return say(fmt::format("the flight recorder is off: {}; see --flight", printable(wrong)));
  } else {
    base_ = path_from_root(options_.folder);
    fs::create_directories(base_, error);
  }
  remove_abandoned_flights(base_);
  const std::string path = fmt::format("{}/{:%Y%m%dT%H%M%S}Z-{}-{}", base_, fmt::gmtime(std::time(nullptr)),
                                       file_name_from(name_), getpid());
  if (mkdir(path.c_str(), 0700) == 0) lock_ = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) {
    say(fmt::format("the flight recorder is off: {}: {}; see --flight", printable(path), std::strerror(errno)));
    return;
  }
  flock(lock_, LOCK_EX | LOCK_NB);
  folder_ = path;
  if (!is_attached_) stderr_.open();
}

void Flight::open_attached() {
  is_attached_ = true;
  open();
}

std::string Flight::memory_dump_prefix() const {
  return is_open() ? folder_ + "/bfc_memory_dump" : std::string();
}

void Flight::write_line(const std::string& text) {
  const int file = ::open((folder_ + "/what_happened.txt").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  const std::string line = text + "\n";
  [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
  close(file);
}

void Flight::keep_stderr() {
  if (!stderr_.is_kept() || stderr_.bytes() == kept_bytes_) return;
  kept_bytes_ = stderr_.bytes();
  write_new_file(fmt::format("{}/stderr-{}.txt", folder_, ++tails_), stderr_.read());
}

void Flight::begin_note(const std::string& text, bool has_recording) {
  const std::chrono::duration<double> passed = steady_clock::now() - begun_;
  if (!has_notes_) {
    write_line(is_attached_ ? fmt::format("hbmscope attached to {}.", printable(name_))
                            : fmt::format("A run of {} under hbmscope.", printable(name_)));
    if (is_attached_)
      write_line("Its standard error is not here: it was already running.");
    else if (!stderr_.is_kept())
      write_line("Its standard error is not here: it is a terminal.");
    else if (stderr_.has_stdout())
      write_line("stderr-*.txt also has the end of its standard output, which is the same file.");
    say(fmt::format("{}; details are in {}", text, printable(folder_)));
  }
  has_notes_ = true;
  write_line(fmt::format("{:%Y-%m-%d %H:%M:%S} UTC, {:.1f} s after the start: {}.", fmt::gmtime(std::time(nullptr)),
                         passed.count(), text));
  keep_stderr();
  if (has_recording && !has_link_) has_link_ = ::link(recording_.c_str(), (folder_ + "/recording.hbm").c_str()) == 0;
}

void Flight::note(const std::vector<serve::Failure>& failures, bool is_recording) {
  if (!is_open()) return;
  for (const serve::Failure& failure : failures) {
    const auto now = steady_clock::now();
    std::erase_if(noted_, [&](auto time) { return now - time > std::chrono::minutes(1); });
    if (noted_.size() >= notes_a_minute) {
      unnoted_ += failure.times;
      continue;
    }
    noted_.push_back(now);
    begin_note(text_from(failure) + (is_recording ? "" : " (the recording had already ended)"), true);
  }
}

bool has_memory_dumps_in(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with("bfc_memory_dump")) return true;
  return false;
}

void Flight::finish(int status, bool has_recording) {
  if (!is_open()) return;
  // A shell reports the signal of its command in its exit code.
  const int code = WIFSIGNALED(status) ? 0 : WEXITSTATUS(status);
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : code > 128 && code < 128 + NSIG ? code - 128 : 0;
  if (signal != 0 && is_fatal(signal))
    begin_note(fmt::format("killed by {}{}", name_of_signal(signal),
                           WIFSIGNALED(status) ? "" : fmt::format(" (exit code {})", code)),
               has_recording);
  // A dump alone is not a failure: XLA's allocator also writes one for a request that succeeded later.
  else if (!has_notes_ && code != 0 && has_dumps())
    begin_note(fmt::format("XLA's allocator refused a request, and the job exited with code {}", code), has_recording);
  else if (!has_notes_ && options_.on_exit)
    begin_note("the job ended (--on-exit)", has_recording);
  if (!has_notes_) return;
  keep_stderr();
  if (signal == 0) write_line(fmt::format("It exited with code {}.", code));
  finish_notes(has_recording);
}

void Flight::finish_attached(bool has_ended) {
  if (!is_open()) return;
  const char* how = has_ended ? "the job has ended" : "hbmscope detached, and the job keeps running";
  if (!has_notes_ && options_.on_exit) begin_note(fmt::format("{} (--on-exit)", how), true);
  if (!has_notes_) return;
  write_line(has_ended ? "It has ended; its exit code is unknown." : "hbmscope detached; the job keeps running.");
  finish_notes(true);
}

void Flight::finish_notes(bool has_recording) {
  if (unnoted_ > 0)
    write_line(fmt::format("And {} more out-of-memory errors or refusals, beyond {} a minute; the recording has them.",
                           text_from_count(unnoted_), notes_a_minute));
  std::error_code error;
  if (has_recording && !has_link_) has_link_ = fs::copy_file(recording_, folder_ + "/recording.hbm", error);
  if (has_link_)
    write_line("Open recording.hbm with hbmscope to see the device memory.");
  else if (has_recording)
    write_line(fmt::format("The recording could not be copied here; it is {}.", printable(recording_)));
  else
    write_line("No process used device memory, so there is no recording.");
  prune_flights(options_, base_, folder_);
}

// Any dumps are for requests that succeeded in the end.
void Flight::remove_folder() {
  std::vector<fs::path> dumps;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; entry != end; entry.increment(error))
    dumps.push_back(entry->path());
  for (const fs::path& dump : dumps)
    if (dump.filename().string().starts_with("bfc_memory_dump")) fs::remove(dump, error);
  rmdir(folder_.c_str());
}

}  // namespace hbmscope::cli
