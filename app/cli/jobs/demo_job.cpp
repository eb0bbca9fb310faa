#include "app/cli/jobs/demo_job.h"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "allocator/emulated/workload/annotated_device.h"
#include "allocator/emulated/workload/workloads.h"
#include "allocator/reference/catalog/setup.h"
#include "app/cli/cli.h"
#include "app/cli/dry_run/device_size.h"
#include "app/cli/dry_run/replay_plan.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

namespace workload = allocator::workload;
using Clock = std::chrono::steady_clock;

constexpr double events_per_second = 600;  // At speed 1.
constexpr double seconds_after_a_failure = 0.5;

volatile std::sig_atomic_t is_over = 0;
void end_it(int) {
  is_over = 1;
}
struct Over {};  // Thrown to end the program between two events.

// Waits between two events, and handles the lines that arrive on standard input meanwhile.
class Pace {
 public:
  explicit Pace(double speed) : speed_(speed), next_(Clock::now()) {}

  void wait(std::chrono::duration<double> pause = {}) {
    next_ += std::chrono::duration_cast<Clock::duration>(
        (std::chrono::duration<double>(1 / events_per_second) + pause) / speed_);
    do {
      if (is_over != 0) throw Over{};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_ - Clock::now()).count();
      const bool is_due = left <= 0 && !is_paused_;
      listen(is_due ? 0 : is_paused_ ? 100 : static_cast<int>(std::min<std::int64_t>(left, 100)));
    } while ((is_paused_ && steps_ == 0) || next_ > Clock::now());
    if (is_paused_) --steps_;
    // A job that was paused does not catch up afterwards.
    if (Clock::now() - next_ > std::chrono::milliseconds(250)) next_ = Clock::now();
  }

 private:
  void listen(int wait_ms) {
    pollfd input{is_deaf_ ? -1 : STDIN_FILENO, POLLIN, 0};
    poll(&input, 1, wait_ms);
    if (input.revents == 0) return;
    char bytes[256];
    const ssize_t got = read(STDIN_FILENO, bytes, sizeof(bytes));
    if (got <= 0) {
      is_deaf_ = true;
      return;
    }
    typed_.append(bytes, static_cast<std::size_t>(got));
    for (std::size_t end = 0; (end = typed_.find('\n')) != std::string::npos; typed_.erase(0, end + 1))
      take(std::string_view(typed_).substr(0, end));
  }

  void take(std::string_view line) {
    if (line == "pause") is_paused_ = true;
    if (line == "go") is_paused_ = false;
    if (line == "step") steps_ = is_paused_ ? steps_ + 1 : 0;
    if (line.starts_with("speed ")) speed_ = std::clamp(std::atof(std::string(line.substr(6)).c_str()), 0.01, 1e6);
  }

  double speed_;
  Clock::time_point next_;
  bool is_paused_ = false, is_deaf_ = false;
  int steps_ = 0;
  std::string typed_;
};

class PacedDevice final : public workload::Device {
 public:
  PacedDevice(allocator::AnnotatedDevice& device, Pace& pace) : device_(device), pace_(pace) {}
  std::uint64_t allocate(std::uint64_t bytes, const workload::Site& site) override {
    pace_.wait();
    return device_.allocate(bytes, site);
  }
  void free(std::uint64_t address) noexcept override { device_.free(address); }
  void mark(const char* name, workload::Phase phase) override { device_.mark(name, phase); }
  void rest(double seconds) override { pace_.wait(std::chrono::duration<double>(seconds)); }

 private:
  allocator::AnnotatedDevice& device_;
  Pace& pace_;
};

Result<allocator::Setup> setup_of(const DemoOptions& options) {
  const auto bytes = device_bytes_from(options.device_bytes);
  if (!bytes) return Failure(bytes.error());
  const auto settings = settings_from(options.settings);
  if (!settings) return Failure(settings.error());
  auto setup = allocator::set_up({options.allocator, options.version, *settings, *bytes});
  if (!setup) return Failure(refusal(setup.error(), "allocator/reference/catalog/README.md lists the settings."));
  return std::move(*setup);
}

}  // namespace

Result<void> check_demo_job(const DemoOptions& options) {
  const auto setup = setup_of(options);
  return setup ? Result<void>() : Result<void>(Failure(setup.error()));
}

std::vector<std::string> words_of_demo_job(const DemoOptions& options) {
  std::vector<std::string> words{"demo-job",
                                 "--workload",
                                 options.workload,
                                 "--device-bytes",
                                 options.device_bytes,
                                 "--speed",
                                 fmt::format("{}", options.speed),
                                 "--seed",
                                 std::to_string(options.seed)};
  if (!options.allocator.empty()) words.insert(words.end(), {"--allocator", options.allocator});
  if (!options.version.empty()) words.insert(words.end(), {"--version", options.version});
  for (const std::string& setting : options.settings) words.insert(words.end(), {"--set", setting});
  return words;
}

int run_demo_job(const DemoOptions& options) {
  const auto setup = setup_of(options);
  if (!setup) return fail(setup.error());
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // It exists only to be watched.
  std::signal(SIGTERM, end_it);
  std::signal(SIGINT, end_it);
  allocator::AnnotatedDevice device(setup->options, setup->upstream);
  Pace pace(options.speed);
  PacedDevice paced(device, pace);
  // Destroyed before `device`, which its arrays use.
  const auto work = workload::make_workload(options.workload, options.seed);
  if (work == nullptr)
    return fail(
        refusal(fmt::format("there is no workload '{}'", options.workload), "hbmscope demo --list lists them."));
  bool has_failed = false;
  try {
    for (;;) {
      try {
        work->step(paced);
      } catch (const workload::OutOfMemory& failed) {
        if (!std::exchange(has_failed, true))
          fmt::print(stderr, "RESOURCE_EXHAUSTED: Out of memory while trying to allocate {} bytes.\n",
                     failed.requested_bytes);
        paced.rest(seconds_after_a_failure);
      }
    }
  } catch (const Over&) {
  }
  return exit_ok;
}

}  // namespace hbmscope::cli
