#include "app/cli/demo.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>

#include <fmt/format.h>

#include "allocator/workload/workloads.h"
#include "analysis/units/utf8.h"
#include "app/cli/display.h"
#include "app/cli/load.h"
#include "app/cli/observed_job.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "collector/link/meeting_place.h"

namespace hbmscope::cli {
namespace {

volatile std::sig_atomic_t asked_to_end = 0;
void remember(int) {
  asked_to_end = 1;
}

int print_list() {
  for (const auto& one : allocator::workload::all_workloads())
    fmt::print("{:14} {}. {}\n", one.name, one.title, one.shows);
  return exit_ok;
}

// The recording at its peak, as report prints it.
int print_summary(const std::string& recording, bool json) {
  ReportOptions report;
  report.files = {recording};
  report.view.at = "peak";
  report.json = json;
  report.top = 8;
  return run_report(report);
}

int run_headless(const DemoRequest& request) {
  if (getauxval(AT_BASE) == 0)  // No loader brought it here, and none brings the collector.
    return fail(
        {"this hbmscope is linked statically, for servers, so its own allocators can't be watched from their start",
         "hbmscope demo works where it was built.",
         {},
         {},
         false});
  const bool is_kept = !request.record.empty();
  const std::string folder = link::private_folder();
  if (!is_kept && folder.empty())
    return fail({"there is no folder that only this user may enter, neither in XDG_RUNTIME_DIR nor in /tmp",
                 "Set XDG_RUNTIME_DIR to one, or keep the recording: --record demo.hbm.",
                 {},
                 {},
                 false});
  const std::string recording = is_kept ? request.record : folder + "/demo-" + std::to_string(getpid()) + ".hbm";
  std::vector<std::string> command{std::filesystem::read_symlink("/proc/self/exe").string()};
  for (std::string& word : words_of_demo_job(request.job)) command.push_back(std::move(word));
  std::signal(SIGTERM, remember);
  std::signal(SIGHUP, remember);
  ObservedJob job;
  JobSettings settings;
  settings.listen = request.listen;
  if (const auto failed = job.start(command, recording, settings)) return *failed;
  const auto begun = std::chrono::steady_clock::now();
  bool is_told = false;
  while (job.serve()) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
    const bool is_over = asked_to_end != 0 || (request.seconds > 0 && passed.count() >= request.seconds);
    if (is_over && !is_told) job.send_signal(SIGTERM);
    is_told = is_over;
  }
  int code = job.exit_code();
  if (code == exit_ok && request.seconds > 0) {
    if (!request.json)
      fmt::print("hbmscope demo {}: {:.0f} s of it on a device of {}, at the moment when most was in use\n\n",
                 request.job.workload, request.seconds, request.job.device_bytes);
    code = print_summary(recording, request.json);
    if (is_kept && !request.json) fmt::print("\nIts recording: hbmscope {}\n", printable(recording));
  }
  if (!is_kept) std::filesystem::remove(recording);
  return code;
}

}  // namespace

int run_demo(const DemoRequest& request, const OpenWindow& open_window) {
  if (request.list) return print_list();
  if (request.headless || request.json) return run_headless(request);
  if (!open_window || !has_display()) {
    fmt::print(stderr, "hbmscope: there is no {}, so the demo runs without one; --headless says so too.\n",
               open_window ? "display" : "window in this build");
    return run_headless(request);
  }
  if (const auto refused = refuse_to_listen(request.listen, "the window starts its demo anew with every change",
                                            "Add --headless, and --for 0 until you end it."))
    return *refused;
  OpenRequest open;
  open.demo = words_of_demo_job(request.job);
  const auto code = open_window(open);
  if (code) return *code;
  print_error(code.error());
  return exit_unreadable;
}

}  // namespace hbmscope::cli
