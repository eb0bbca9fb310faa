#include "app/cli/jobs/demo.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "allocator/emulated/workload/workloads.h"
#include "analysis/query/heap_rows.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "app/cli/dry_run/program_files.h"
#include "app/cli/jobs/display.h"
#include "app/cli/jobs/observed_job.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "collector/link/meeting_place.h"
#include "collector/view/started_command.h"

namespace hbmscope::cli {
namespace {

volatile std::sig_atomic_t demo_end_requested = 0;
void remember(int) {
  demo_end_requested = 1;
}

int print_list(bool json) {
  if (json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& one : allocator::workload::all_workloads())
      list.push_back({{"name", one.name}, {"title", one.title}, {"shows", one.shows}});
    const nlohmann::ordered_json all = {{"schema", json_schema}, {"workloads", std::move(list)}};
    fmt::print("{}\n", all.dump(2));
    return exit_ok;
  }
  for (const auto& one : allocator::workload::all_workloads())
    fmt::print("{:14} {}. {}\n", one.name, one.title, one.shows);
  return exit_ok;
}

// The peak of the recording, or its end if nothing was ever in use because nothing fit.
std::string moment_of(const std::string& recording) {
  const auto source = load_merged({recording}, {});
  return source && source->trace && find_moment(*source->trace, "peak") ? "peak" : "";
}

// Prints the recording at that time, like report.
int print_summary(const std::string& recording, const std::string& at, bool json) {
  ReportOptions report;
  report.files = {recording};
  report.view.at = at;
  report.json = json;
  report.top = 8;
  return run_report(report);
}

bool has_failed(const std::string& recording) {
  const auto source = load_merged({recording}, {});
  return source && source->trace && compute_event_counts(*source->trace).failed_requests > 0;
}

// Compares both recordings after the same number of requests, to show what the second configuration changed: when one
// of them failed, otherwise at the second one's peak.
int print_difference(const std::vector<std::string>& recordings, bool json) {
  DiffOptions diff;
  diff.files = recordings;
  if (has_failed(recordings[0]))
    diff.from = "oom";
  else
    diff.view.at = has_failed(recordings[1]) ? "oom" : moment_of(recordings[1]);
  diff.same = "requests";
  diff.top = 8;
  diff.json = json;
  return run_diff(diff);
}

// The settings of the second program, which replace those of the same name.
DemoOptions second_job(const DemoRequest& request) {
  DemoOptions job = request.job;
  for (const std::string& setting : request.other_side) {
    const std::string name = setting.substr(0, setting.find('=') + 1);
    std::erase_if(job.settings, [&](const std::string& one) { return one.starts_with(name); });
    job.settings.push_back(setting);
  }
  return job;
}

// "demo.hbm"; for the second job "demo-b.hbm".
Result<std::string> recording_of(const DemoRequest& request, std::size_t job) {
  const std::string suffix = job == 0 ? "" : "-b";
  if (!request.record.empty()) {
    const std::filesystem::path path(request.record);
    return (path.parent_path() / (path.stem().string() + suffix + path.extension().string())).string();
  }
  const std::string folder = link::private_folder();
  if (!folder.empty()) return folder + "/demo-" + std::to_string(getpid()) + suffix + ".hbm";
  return Failure(refusal("found no private folder, neither in XDG_RUNTIME_DIR nor in /tmp",
                         "Set XDG_RUNTIME_DIR to a folder that only you can enter, or add --record demo.hbm."));
}

// Until the job has ended. The job gets a signal when its time is over or when this process gets one.
void serve(ObservedJob& job, double seconds) {
  const auto begun = std::chrono::steady_clock::now();
  bool is_signalled = false;
  while (job.serve()) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
    const bool is_over = demo_end_requested != 0 || (seconds > 0 && passed.count() >= seconds);
    if (is_over && !is_signalled) job.send_signal(SIGTERM);
    is_signalled = is_over;
  }
}

// The second program is another demo, which ends on a signal.
Result<std::unique_ptr<view::StartedCommand>> start_second(const DemoRequest& request, const std::string& recording) {
  std::vector<std::string> words{"demo", "--headless", "--for", "0", "--record", recording};
  const std::vector<std::string> job = words_of_demo_job(second_job(request));
  words.insert(words.end(), job.begin() + 1, job.end());
  std::string wrong;
  auto started = view::StartedCommand::start(words, wrong);
  if (started == nullptr)
    return Failure(refusal("cannot start the second program: " + wrong, "Remove --compare-with."));
  return started;
}

int print_end(const DemoRequest& request, const std::vector<std::string>& recordings) {
  const std::string at = recordings.size() > 1 ? "" : moment_of(recordings.front());
  if (!request.json)
    fmt::print("hbmscope demo: {} for {:g} s on a device of {}, {}\n\n", request.job.workload, request.seconds,
               request.job.device_bytes,
               recordings.size() > 1 ? "with two configurations"
               : at.empty()          ? "with no memory ever in use"
                                     : "at its peak");
  const int code = recordings.size() > 1 ? print_difference(recordings, request.json)
                                         : print_summary(recordings.front(), at, request.json);
  if (request.record.empty() || request.json) return code;
  if (recordings.size() > 1)
    fmt::print("\nOpen the recordings: hbmscope open {} --compare-with {} --lock requests\n", printable(recordings[0]),
               printable(recordings[1]));
  else
    fmt::print("\nOpen the recording: hbmscope {}\n", printable(recordings[0]));
  return code;
}

int run_headless(const DemoRequest& request) {
  if (getauxval(AT_BASE) == 0)  // A static program has no loader, so none can load the collector.
    return fail(refusal("this hbmscope is linked statically, for servers, and can't observe its own demo",
                        "Run hbmscope demo on the machine where hbmscope is installed."));
  std::vector<std::string> recordings;
  for (std::size_t i = 0; i < (request.other_side.empty() ? 1U : 2U); ++i) {
    const auto recording = recording_of(request, i);
    if (!recording) return fail(recording.error());
    recordings.push_back(*recording);
  }
  std::vector<std::string> command{program_path().string()};
  for (std::string& word : words_of_demo_job(request.job)) command.push_back(std::move(word));
  std::signal(SIGTERM, remember);
  std::signal(SIGHUP, remember);
  std::unique_ptr<view::StartedCommand> other_side;
  if (!request.other_side.empty()) {
    auto started = start_second(request, recordings[1]);
    if (!started) return fail(started.error());
    other_side = std::move(*started);
  }
  ObservedJob job;
  JobSettings settings;
  settings.listen = request.listen;
  if (const auto failed = job.start(command, recordings[0], settings)) return *failed;
  serve(job, request.seconds);
  other_side.reset();
  int code = job.exit_code();
  if (code == exit_ok && request.seconds > 0) code = print_end(request, recordings);
  std::error_code ignored;
  if (request.record.empty())
    for (const std::string& recording : recordings) std::filesystem::remove(recording, ignored);
  return code;
}

}  // namespace

int run_demo(const DemoRequest& request, const OpenWindow& open_window) {
  if (request.list) return print_list(request.json);
  if (!request.other_side.empty())
    if (const auto checked = check_demo_job(second_job(request)); !checked) return fail(checked.error());
  if (request.headless || request.json) return run_headless(request);
  if (!open_window || !has_display()) {
    fmt::print(stderr, "hbmscope: no {}, so the demo runs without a window, as with --headless.\n",
               open_window ? "display" : "window in this build");
    return run_headless(request);
  }
  if (const auto refused = refuse_to_listen(request.listen, "the window restarts its demo with every change",
                                            "Add --headless, and --for 0 to run until Ctrl+C."))
    return *refused;
  OpenRequest open;
  open.demo = words_of_demo_job(request.job);
  if (!request.other_side.empty()) open.second_demo = words_of_demo_job(second_job(request));
  const auto code = open_window(open);
  if (code) return *code;
  print_error(code.error());
  return exit_unreadable;
}

}  // namespace hbmscope::cli
