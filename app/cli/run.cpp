#include "app/cli/run.h"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "app/cli/display.h"
#include "app/cli/observed_job.h"
#include "app/cli/terminal.h"
#include "app/cli/window_process.h"

namespace hbmscope::cli {
namespace {

volatile std::sig_atomic_t asked_to_end = 0;

void remember_signal(int signal) {
  asked_to_end = signal;
}

}  // namespace

int run_job(const RunOptions& options, bool has_window) {
  const std::string path =
      options.record.empty()
          ? fmt::format("{}.{}.hbm", std::filesystem::path(options.command.front()).filename().string(), getpid())
          : options.record;
  for (const int one : {SIGTERM, SIGHUP})
    if (std::signal(one, remember_signal) == SIG_IGN) std::signal(one, SIG_IGN);  // Under nohup.
  ObservedJob job;
  const bool wants_cupti = options.back_end == "cupti";
  if (const auto failed = job.start(options.command, path, !options.no_follow, wants_cupti)) return *failed;
  if (!wants_cupti)  // Otherwise the job's processes say what came of it.
    say("the CUDA driver's calls are told by interposition, which leaves CUPTI to the job");
  WindowProcess window;
  if (has_window && !options.no_window && has_display()) window.open(job.viewer_socket());
  while (job.serve())
    if (asked_to_end != 0) job.send_signal(std::exchange(asked_to_end, 0));
  job.print_summary();
  return job.exit_code();
}

}  // namespace hbmscope::cli
