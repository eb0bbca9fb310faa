#include "app/cli/jobs/attach.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/units/utf8.h"
#include "app/cli/cli.h"
#include "app/cli/dry_run/program_files.h"
#include "app/cli/export/output_file.h"
#include "app/cli/jobs/display.h"
#include "app/cli/jobs/find_job.h"
#include "app/cli/jobs/observation.h"
#include "app/cli/jobs/totals.h"
#include "app/cli/jobs/watched_processes.h"
#include "app/cli/jobs/window_process.h"
#include "app/cli/load.h"
#include "app/cli/remote/far_job.h"
#include "app/cli/remote/far_start.h"
#include "app/cli/terminal.h"
#include "collector/attach/device_totals.h"
#include "collector/attach/injector.h"
#include "collector/attach/job_list.h"
#include "collector/attach/way_in.h"
#include "collector/link/meeting_place.h"
#include "collector/serve/proc_file.h"
#include "collector/view/live_link.h"

namespace hbmscope::cli {
namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t end_requested = 0;

constexpr const char* profilers = "torch.profiler, jax.profiler and nsys";
constexpr const char* totals_remain = "its total per device is still recorded, where the driver (NVML) reports it";

void note_end_request(int) {
  end_requested = 1;
}

int refuse(const std::string& job, const attach::Refusal& reason) {
  return fail(refusal(fmt::format("cannot attach to {}: {}", job, reason.what), reason.remedy));
}

// A process that a job started with fork() for other work, e.g. loading data: the same command as its parent, and no
// device memory as far as the driver knows.
bool is_helper(const attach::RunningJob& job, const std::vector<attach::RunningJob>& all) {
  return job.holdings.empty() && std::any_of(all.begin(), all.end(), [&](const attach::RunningJob& one) {
           return one.process == job.parent && one.command == job.command;
         });
}

// Finds the job by a process id, or by a part of its command that only one job has. With `is_all`: all jobs with that
// part, or with the command of that process.
std::vector<pid_t> find_processes(const std::string& name, bool is_all) {
  const std::optional<pid_t> number = process_number(name);
  if (number == 0) {
    refuse(name, {"there is no such process", "hbmscope ps lists jobs."});
    return {};
  }
  if (number && !is_all) return {*number};
  std::vector<attach::RunningJob> found = attach::list_jobs().jobs;
  const auto named =
      std::find_if(found.begin(), found.end(), [&](const attach::RunningJob& job) { return job.process == number; });
  if (number && named == found.end()) return {*number};  // add_target() prints what is wrong with it.
  const attach::RunningJob one = number ? *named : attach::RunningJob{};
  const std::vector<attach::RunningJob> all = found;
  std::erase_if(found, [&](const attach::RunningJob& job) {
    if (is_all && job.process != number && is_helper(job, all)) return true;
    return number ? job.command != one.command || job.uid != one.uid : !is_named(job, name);
  });
  std::vector<pid_t> processes;
  for (const attach::RunningJob& job : found) processes.push_back(job.process);
  if (found.size() == 1 || (is_all && !found.empty())) return processes;
  refuse_named(name, found, "hbmscope ps lists jobs; use the process number of one, or --all for all of them.");
  return {};
}

std::string name_of(pid_t process) {
  const std::string status = serve::read_proc_file("/proc/" + std::to_string(process) + "/status");
  std::string name = serve::value_of_line(status, "Name");
  std::replace(name.begin(), name.end(), '/', '_');
  return name.empty() ? "job" : name;
}

// One process, or several that are observed as one job.
class AttachedJob {
 public:
  explicit AttachedJob(const AttachOptions& options) : options_(options) {}

  // Prints and skips processes that can't be attached to. Returns the exit code if none is left.
  int run(const std::vector<pid_t>& processes, bool has_window) {
    if (options_.totals && attach::read_device_totals().empty()) return refuse_without_totals();
    const auto collector = options_.totals ? std::filesystem::path() : find_collector();
    if (!collector) return fail(collector_is_missing());
    int refused = exit_ok;
    for (const pid_t process : processes)
      if (const auto failed = add_target(process, collector->string())) refused = *failed;
    if (targets_.empty()) return refused;
    Target& first = targets_.front();
    const std::string recording = options_.record.empty()
                                      ? new_recording(fmt::format("{}.{}", name_of(first.process), first.process))
                                      : options_.record;
    // An existing recording is replaced only when there is a new one.
    const std::string begun = recording + ".begun";
    if (const auto failed = check_recording(recording)) return *failed;
    const serve::RecordingName name =
        options_.record.empty() ? serve::RecordingName::made_up : serve::RecordingName::chosen;
    meeting_way_ = first.way;
    if (const auto failed = meeting_way_ ? observation_.open(begun, name, meeting_way_->folder, meeting_way_->uid)
                                         : observation_.open(begun, name))
      return *failed;
    if (const auto failed = observation_.listen(options_.listen)) return *failed;
    for (const int one : {SIGINT, SIGTERM, SIGHUP})
      if (std::signal(one, note_end_request) == SIG_IGN) std::signal(one, SIG_IGN);
    for (const int one : {SIGPIPE, SIGXFSZ}) std::signal(one, SIG_IGN);
    if (const auto failed = observation_.start_recording())
      return fail(refusal(*failed, "Choose another file with --record.", recording));
    report_cupti();
    if (const auto failed = options_.totals ? watch_totals_of_all() : inject_all()) {
      observation_.finish(0);
      observation_.remove_empty_recording();
      return *failed;
    }
    observation_.watch_devices();
    if (const auto wrong = observation_.rename_recording(recording))
      say(fmt::format("the recording keeps the name {}: {}", printable(begun), *wrong));
    report_far_start();
    WindowProcess window;
    if (has_window && !options_.no_window && has_display()) window.open(observation_.viewer_socket());
    Flight flight(options_.flight, name_of(targets_.front().process), observation_.recording());
    flight.open_attached();
    observe(window, flight);
    let_go();
    const bool lives =
        std::any_of(targets_.begin(), targets_.end(), [](const Target& one) { return is_alive(one.process); });
    const bool was_recording = observation_.is_recording();
    observation_.finish(lives ? link::status_flag::is_attached : link::status_flag::job_has_ended);
    flight.note(observation_.observer().take_failures(), was_recording);
    flight.finish_attached(!lives);
    observation_.print_summary();
    say_what_was_not_seen();
    return exit_ok;
  }

 private:
  // What the start promised is one thing, what came another.
  void say_what_was_not_seen() {
    if (options_.totals) return;
    std::vector<pid_t> silent;
    for (const serve::Observer::Process& process : observation_.observer().processes())
      if (process.events == 0) silent.push_back(static_cast<pid_t>(process.pid));
    if (silent.empty()) return;
    say(
        fmt::format("nothing was seen of {}: it allocated and freed nothing while hbmscope was attached, or its CUPTI "
                    "reports no calls",
                    text_from_processes(silent)));
  }

  // The recording takes the place of what has this name: neither of another user's file, nor of a folder or /dev/null.
  static std::optional<int> check_recording(const std::string& recording) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::file_status found = fs::status(recording, error);
    if (found.type() == fs::file_type::not_found) return std::nullopt;
    std::optional<std::string> wrong;
    if (error)
      wrong = error.message();
    else if (fs::is_regular_file(found))
      wrong = serve::try_recording(recording, serve::RecordingName::chosen);
    else
      wrong = fs::is_directory(found) ? "it is a folder" : "it is not a regular file";
    if (wrong) return fail(refusal(*wrong, "Choose another file with --record.", recording));
    return std::nullopt;
  }

  struct Target {
    pid_t process = 0;
    std::shared_ptr<attach::WayIn> way;  // Null: nothing is loaded into it.
  };

  static bool is_alive(pid_t process) {
    if (kill(process, 0) != 0 && errno == ESRCH) return false;
    const attach::ProcessStatus status = attach::read_status(process);  // /proc may hide it.
    return status.state != 'Z' && status.state != 'X';
  }

  // If it can't be attached to, prints why and returns the exit code.
  std::optional<int> add_target(pid_t process, const std::string& collector) {
    const std::string number = std::to_string(process);
    if (const auto observer = link::find_observer_of(process))
      return fail(refusal(
          *observer == process ? fmt::format("{} already observes itself (hbmscope_serve)", number)
                               : fmt::format("{} is already observed by hbmscope {}", number, *observer),
          fmt::format(
              "Use hbmscope open live:{} to show it, hbmscope watch {} to print it, or hbmscope detach {} to detach.",
              number, number, number)));
    if (options_.totals) {
      if (!is_alive(process)) return refuse(number, {"there is no such process", "hbmscope ps lists jobs."});
      targets_.push_back({process, nullptr});
      return std::nullopt;
    }
    if (const auto refusal = attach::find_refusal_once_started(process)) return refuse(number, *refusal);
    Target target{process, std::make_shared<attach::WayIn>()};
    if (const auto refusal = attach::find_way_in(process, collector, *target.way)) return refuse(number, *refusal);
    if (!targets_.empty() && !lead_to_one_folder(*target.way, *targets_.front().way))
      return refuse(number, {fmt::format("it runs in another container than {}", targets_.front().process),
                             "Attach to it separately."});
    targets_.push_back(std::move(target));
    return std::nullopt;
  }

  static bool lead_to_one_folder(const attach::WayIn& a, const attach::WayIn& b) {
    if (a.folder.empty() || b.folder.empty()) return a.folder.empty() && b.folder.empty();
    struct stat one {
    }, other{};
    return a.uid == b.uid && fstat(a.open_folder, &one) == 0 && fstat(b.open_folder, &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
  }

  void report_cupti() const {
    if (options_.no_cupti || options_.totals) return;
    std::string which;
    for (const Target& target : targets_)
      if (attach::has_cuda_driver(attach::read_mappings(target.process)))
        which += (which.empty() ? "" : ", ") + std::to_string(target.process);
    if (which.empty()) return;
    say(
        fmt::format("hbmscope uses CUPTI in {}, if it is free: {} can't start there until hbmscope detaches. Use "
                    "--no-cupti to leave "
                    "CUPTI to them.",
                    which, profilers));
  }

  // How the driver calls of the process are recorded, as first reported by its collector.
  std::string first_driver_calls(pid_t process) {
    observation_.serve(link::status_flag::is_attached);
    for (auto& calls : observation_.observer().take_driver_calls()) driver_calls_.push_back(std::move(calls));
    const auto found =
        std::find_if(driver_calls_.begin(), driver_calls_.end(), [&](const auto& one) { return one.pid == process; });
    if (found == driver_calls_.end()) return {};
    const serve::Observer::DriverCalls calls = std::move(*found);
    driver_calls_.erase(found);
    std::string words = printable(calls.sentence);
    if (calls.may_be_recorded_later && !options_.no_cupti)
      words += " (when it loads the driver, hbmscope uses CUPTI if it is free; --no-cupti prevents that)";
    if (!calls.are_recorded && !calls.may_be_recorded_later) words += std::string("; ") + totals_remain;
    return words;
  }

  void report_driver_calls() {
    for (auto& calls : observation_.observer().take_driver_calls()) driver_calls_.push_back(std::move(calls));
    for (const serve::Observer::DriverCalls& calls : std::exchange(driver_calls_, {})) {
      const std::string words = fmt::format("{}: {}", calls.pid, printable(calls.sentence));
      if (calls.are_recorded)
        say(fmt::format(
            "{} from now on; earlier allocations are unknown. {} can't start there until hbmscope detaches.", words,
            profilers));
      else
        say(fmt::format("{}; {}.", words, totals_remain));
    }
  }

  std::optional<int> watch_totals_of_all() {
    for (const Target& target : targets_) {
      const std::string number = std::to_string(target.process);
      if (const auto wrong = observation_.observer().watch_totals_of(target.process))
        return refuse(number, {*wrong, "Attach to fewer processes."});
      say(fmt::format(
          "recording the total memory of {} ({}) from the driver, once a second; nothing is loaded into it. "
          "Press Ctrl+C to stop.",
          number, printable(name_of(target.process))));
    }
    return std::nullopt;
  }

  // The last exit code if it could not attach to any of them.
  std::optional<int> inject_all() {
    std::optional<int> failed;
    std::vector<Target> attached;
    for (Target& target : targets_) {
      const std::string number = std::to_string(target.process);
      if (const auto refusal = inject(target)) {
        failed = refuse(number, *refusal);
        if (end_requested != 0) break;
        continue;
      }
      const std::string how = first_driver_calls(target.process);
      say(fmt::format("attached to {} ({}){}{}.{}", number, printable(name_of(target.process)), how.empty() ? "" : "; ",
                      how,
                      attached.empty() ? " Earlier events and the processes that it starts are not seen; blocks that "
                                         "are already live are listed if its allocator reports them. Press Ctrl+C to "
                                         "detach."
                                       : ""));
      attached.push_back(std::move(target));
    }
    if (attached.empty()) return failed;
    targets_ = std::move(attached);
    return std::nullopt;
  }

  std::optional<attach::Refusal> inject(const Target& target) {
    attach::Injection injection;
    injection.process = target.process;
    injection.library = target.way->library;
    injection.leaves_cupti = options_.no_cupti;
    injection.observer = observation_.observer().socket_path();
    if (!meeting_way_->folder.empty())
      injection.observer.replace(0, meeting_way_->folder.size(), target.way->folder_in_job);
    attach::InjectionProcess injector(injection);
    while (!injector.is_over()) {
      if (end_requested != 0) return attach::Refusal{"cancelled", "The job keeps running."};
      observation_.serve(link::status_flag::is_attached);
    }
    return injector.refusal();
  }

  void observe(WindowProcess& window, Flight& flight) {
    const auto begun = Clock::now();
    while (observation_.observer().is_attached() && end_requested == 0) {
      const bool was_recording = observation_.is_recording();
      observation_.serve(link::status_flag::is_attached);
      report_driver_calls();
      flight.note(observation_.observer().take_failures(), was_recording);
      const std::chrono::duration<double> passed = Clock::now() - begun;
      if (options_.seconds > 0 && passed.count() >= options_.seconds) return;
      if (observation_.take_detach_request() || window.was_closed()) return;
    }
  }

  // The job's collector closes its end after it has sent everything.
  void let_go() {
    constexpr std::chrono::seconds patience{5};
    observation_.observer().detach();
    for (const auto until = Clock::now() + patience; observation_.observer().is_attached() && Clock::now() < until;)
      observation_.serve(link::status_flag::is_attached);
  }

  const AttachOptions& options_;
  std::vector<Target> targets_;
  // For the first target. Its folder has the observer's socket, which `observation_` removes first.
  std::shared_ptr<attach::WayIn> meeting_way_;
  std::vector<serve::Observer::DriverCalls> driver_calls_;  // Not printed yet.
  Observation observation_;
};

// HOST:NUMBER is not a host if the command of a job contains that text.
std::optional<int> take_host(const AttachOptions& options, std::string& job, FarOptions& far) {
  const std::string named = job;
  if (const auto failed = take_host_from(job, far)) return failed;
  if (job == named || !options.far.host.empty()) return std::nullopt;
  const auto jobs = attach::list_jobs().jobs;
  if (std::none_of(jobs.begin(), jobs.end(), [&](const attach::RunningJob& one) { return is_named(one, named); }))
    return std::nullopt;
  return fail(refusal(fmt::format("{} could be a job on another machine or part of a command on this one", named),
                      fmt::format("Use --on {} {}, or the process number of the job here.", far.host, job)));
}

int attach_there(const AttachOptions& options, const std::string& job, const FarOptions& far, bool has_window) {
  FarJobOptions there;
  there.far = far;
  there.words = options.words;
  there.words.push_back(job);
  there.record = options.record;
  there.name = fmt::format("{}.{}", far.host, job);
  std::replace(there.name.begin(), there.name.end(), '/', '_');
  there.no_window = options.no_window;
  return follow_far_job(there, has_window);
}

}  // namespace

int run_attach(const AttachOptions& options, bool has_window) {
  std::string named = options.job;
  FarOptions far = options.far;
  if (const auto failed = take_host(options, named, far)) return *failed;
  if (!far.host.empty()) {
    if (const auto refused = refuse_to_listen(options.listen, "ssh already connects to the other machine",
                                              "Remove --listen or the host."))
      return *refused;
    return attach_there(options, named, far, has_window);
  }
  const std::vector<pid_t> processes = find_processes(options.job, options.is_all);
  if (processes.empty()) return exit_usage;
  AttachedJob job(options);
  return job.run(processes, has_window);
}

int run_detach(const std::string& job, const FarOptions& far) {
  std::string process = job;
  FarOptions there = far;
  if (const auto failed = take_host_from(process, there)) return *failed;
  if (!there.host.empty()) {
    if (const auto failed = prepare_host(there)) return *failed;
    return run_there(there, {"detach", process});
  }
  const std::int64_t number = process_number(process).value_or(0);
  const auto observer = link::find_observer_of(number);
  if (!observer)
    return fail(
        refusal(fmt::format("none of your hbmscope processes is attached to {}", process), "hbmscope ps lists jobs."));
  std::optional<link::Status> status;
  view::LiveLink link([](const wire::SharedBlock&) {}, [&](const link::Status& news) { status = news; });
  if (const auto wrong = link.open(view::socket_of("live:" + std::to_string(*observer))))
    return fail(refusal(*wrong, "It may have ended in the meantime.", process));
  link.request(link::RequestKind::detach);
  constexpr std::chrono::seconds patience{10};
  for (const auto until = Clock::now() + patience; Clock::now() < until;) {
    if (!link::find_observer_of(number)) return exit_ok;
    if (status && (status->flags & (link::status_flag::is_attached | link::status_flag::job_has_ended)) == 0)
      return fail(refusal(fmt::format("{} was started by hbmscope {}, so it can't be detached", process, *observer),
                          "Close hbmscope watch or the window at any time; the job keeps running."));
    if (!link.read(100)) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return fail(refusal(fmt::format("hbmscope {} has not detached from {}", *observer, process),
                      fmt::format("End it instead: kill {}.", *observer)));
}

}  // namespace hbmscope::cli
