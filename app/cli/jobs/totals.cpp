#include "app/cli/jobs/totals.h"

#include <sys/types.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "analysis/write/json_optional.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "collector/attach/device_totals.h"
#include "collector/attach/permission.h"

namespace hbmscope::cli {
namespace {

using Clock = std::chrono::steady_clock;
using attach::DeviceTotals;

void print_text(const std::vector<DeviceTotals>& devices, pid_t process, double seconds) {
  bool is_any = false;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const DeviceTotals& device = devices[i];
    const serve::HeldMemory held = serve::held_by(process, device);
    if (!held.is_reported) continue;
    is_any = true;
    std::string line = fmt::format("{:>8.1f} s  {} {}  {} in process {}", seconds, device.title, printable(device.name),
                                   held.bytes ? text_from_bytes(*held.bytes) : "an unknown amount", process);
    if (device.used_bytes && device.total_bytes)
      line += fmt::format(", {} in use in total", text_from_part_of(*device.used_bytes, *device.total_bytes));
    fmt::print("{}\n", line);
  }
  if (!is_any) fmt::print("{:>8.1f} s  the driver reports no device memory for process {}\n", seconds, process);
}

void print_json(const std::vector<DeviceTotals>& devices, pid_t process, double seconds) {
  nlohmann::ordered_json json;
  json["schema"] = 1;
  json["pid"] = process;
  json["seconds"] = seconds;
  json["devices"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const serve::HeldMemory held = serve::held_by(process, devices[i]);
    nlohmann::ordered_json row{{"device", i},
                               {"name", devices[i].name},
                               {"is_told", held.is_reported},
                               {"bytes", nullptr},
                               {"used_bytes", or_null(devices[i].used_bytes)},
                               {"total_bytes", or_null(devices[i].total_bytes)},
                               {"title", devices[i].title},
                               {"uuid", or_null(devices[i].uuid)}};
    if (held.bytes) row["bytes"] = *held.bytes;
    json["devices"].push_back(std::move(row));
  }
  fmt::print("{}", line_from_json(json));
}

}  // namespace

int refuse_without_totals() {
  return fail(refusal("--totals needs NVIDIA's driver: libnvidia-ml.so.1 is missing or reports no device",
                      "Use hbmscope attach without --totals, which does not need it."));
}

int watch_totals(const WatchOptions& options) {
  pid_t process = 0;
  const char* end = options.job.data() + options.job.size();
  const auto [stop, error] = std::from_chars(options.job.data(), end, process);
  if (error != std::errc() || stop != end || !attach::read_status(process).exists)
    return fail(refusal(fmt::format("there is no process {}", options.job), "hbmscope ps lists jobs."));
  const auto begun = Clock::now();
  const auto step = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.interval));
  for (auto next = begun; attach::read_status(process).exists; next += step) {
    std::this_thread::sleep_until(next);
    const std::vector<DeviceTotals> devices = attach::read_device_totals();
    if (devices.empty()) return refuse_without_totals();
    const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
    options.json ? print_json(devices, process, seconds) : print_text(devices, process, seconds);
    if (std::fflush(stdout) != 0) break;  // Nobody reads it any more.
    if (options.seconds > 0 && seconds + options.interval > options.seconds) break;
  }
  return exit_ok;
}

}  // namespace hbmscope::cli
