#include "app/cli/sweep.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/read/json_fields.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "app/cli/child_process.h"
#include "app/cli/cli.h"
#include "app/cli/emulated_machine.h"
#include "app/cli/load.h"
#include "app/cli/program_files.h"
#include "app/cli/run.h"
#include "app/cli/sweep_axis.h"
#include "app/cli/terminal.h"
#include "app/cli/text_columns.h"

namespace hbmscope::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// What a run needs of the host, by experience: the framework, and 8 bytes for each 256 of XLA's pool.
constexpr std::uint64_t host_bytes_per_run = std::uint64_t{3} << 30;

// Of this machine, for more processes; 0: unknown.
std::uint64_t available_host_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:")) return std::strtoull(line.c_str() + 13, nullptr, 10) << 10;
  return 0;
}

unsigned runs_at_once() {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const std::uint64_t by_memory = available_host_bytes() / host_bytes_per_run;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(by_memory, 1, cores));
}

struct SweepRun {
  std::string device;  // As given: "h100:8".
  std::vector<SweepValue> values;
  Json verdict;  // As run --json prints it; null: there is none.
  double seconds = 0;
};

std::string name_of(const SweepRun& run) {
  std::string name = run.device;
  for (const SweepValue& value : run.values) name += "-" + value.name + "-" + value.value;
  for (char& c : name)
    if (c == '/' || c == ':' || c == ' ') c = '_';
  return name;
}

// The device with the least to spare; null: no figures.
const Json* tightest_of(const Json& verdict) {
  const Json* least = nullptr;
  const auto devices = verdict.is_object() ? verdict.find("devices") : verdict.end();
  if (!verdict.is_object() || devices == verdict.end()) return nullptr;
  for (const Json& device : *devices)
    if (least == nullptr || device["spare_bytes"] < (*least)["spare_bytes"]) least = &device;
  return least;
}

std::string bytes_cell(const Json* device, const char* key) {
  if (device == nullptr || !(*device)[key].is_number()) return "–";
  return text_from_bytes((*device)[key].get<std::uint64_t>());
}

std::string verdict_cell(const Json& verdict, const Json* device) {
  if (!verdict.is_object()) return "no verdict";
  const std::string outcome = text_at(verdict, "outcome");
  if (outcome == "fits") return "fits, " + bytes_cell(device, "spare_bytes") + " to spare";
  const auto failure = verdict.find("failure");
  if (failure == verdict.end() || !failure->is_object()) return outcome;
  const std::string file = fs::path(text_at(*failure, "file")).filename().string();
  std::string text = outcome == "out of memory" ? outcome : outcome + ": " + text_at(*failure, "type");
  if (!file.empty()) text += fmt::format(", {}:{}", printable(file), (*failure)["line"].get<int>());
  return text;
}

class Sweep {
 public:
  Sweep(const RunOptions& options, std::vector<SweepAxis> axes, std::string folder)
      : options_(options), axes_(std::move(axes)), folder_(std::move(folder)), devices_(split(options.emulate, ',')) {}

  // Every device with every combination of values.
  void run_all() {
    std::vector<std::vector<SweepValue>> combinations{{}};
    for (const SweepAxis& axis : axes_) {
      std::vector<std::vector<SweepValue>> longer;
      for (const auto& combination : combinations)
        for (const std::string& value : axis.values) {
          longer.push_back(combination);
          longer.back().push_back({axis.name, value});
        }
      combinations = std::move(longer);
    }
    for (const std::string& device : devices_)
      for (const auto& combination : combinations) runs_.push_back({device, combination, {}, 0});
    in_parallel(runs_.size(), [&](std::size_t i) { execute(runs_[i]); });
  }

  // For each device: bisects between the values of the one axis, which must need more and more memory.
  void find_largest() {
    std::vector<std::vector<SweepRun>> of_device(devices_.size());
    largest_.resize(devices_.size());
    in_parallel(devices_.size(), [&](std::size_t i) { bisect(devices_[i], of_device[i], largest_[i]); });
    for (auto& runs : of_device) std::move(runs.begin(), runs.end(), std::back_inserter(runs_));
  }

  std::string text() const;
  Json json() const;
  bool has_all_verdicts() const {
    return std::all_of(runs_.begin(), runs_.end(), [](const SweepRun& run) { return run.verdict.is_object(); });
  }

 private:
  template <class Do>
  void in_parallel(std::size_t count, const Do& act) {
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> threads;
    const std::size_t at_once = std::min<std::size_t>(runs_at_once(), count);
    for (std::size_t i = 0; i < at_once; ++i)
      threads.emplace_back([&] {
        for (std::size_t at = next++; at < count; at = next++) act(at);
      });
    for (std::thread& thread : threads) thread.join();
  }

  // What --largest found for a device.
  struct Largest {
    std::string value;        // Empty: not even the smallest value fits.
    std::string why_unknown;  // "batch = 8 failed: ValueError"; the value is then not known.
  };

  void bisect(const std::string& device, std::vector<SweepRun>& runs, Largest& largest) {
    const SweepAxis& axis = axes_.front();
    const std::int64_t first = axis.is_range ? *number_from(axis.values.front()) : 0;
    const std::int64_t last =
        axis.is_range ? *number_from(axis.values.back()) : static_cast<std::int64_t>(axis.values.size()) - 1;
    const auto value_at = [&](std::int64_t at) {
      return axis.is_range ? std::to_string(at) : axis.values[static_cast<std::size_t>(at)];
    };
    // Everything up to `low` fits, nothing from `high` on does.
    std::int64_t low = first - 1, high = last + 1;
    while (high - low > 1 && largest.why_unknown.empty()) {
      const std::int64_t middle = low + (high - low) / 2;
      runs.push_back({device, {{axis.name, value_at(middle)}}, {}, 0});
      execute(runs.back());
      const std::string outcome = text_at(runs.back().verdict, "outcome");
      if (outcome == "fits")
        low = middle;
      else if (outcome == "out of memory")
        high = middle;
      else
        largest.why_unknown = fmt::format("{} = {} {}", axis.name, value_at(middle),
                                          verdict_cell(runs.back().verdict, tightest_of(runs.back().verdict)));
    }
    if (low >= first) largest.value = value_at(low);
    std::stable_sort(runs.begin(), runs.end(), [&](const SweepRun& a, const SweepRun& b) {
      return number_from(a.values[0].value).value_or(0) < number_from(b.values[0].value).value_or(0);
    });
  }

  // In a process of its own, whose messages and output go to a file.
  void execute(SweepRun& run) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string base = (fs::path(folder_) / name_of(run)).string();
    std::vector<std::string> words{
        program_path().string(), "run",      "--emulate",     run.device, "--json",     "--no-window",
        "--no-flight",           "--stacks", options_.stacks, "--record", base + ".hbm"};
    if (!options_.device_bytes.empty()) words.insert(words.end(), {"--device-bytes", options_.device_bytes});
    words.emplace_back("--");
    const auto command = command_with(options_.command, run.values);
    words.insert(words.end(), command->begin(), command->end());
    if (const auto output = run_and_read(words, base + ".log"); output) {
      run.verdict = Json::parse(output->text, nullptr, false);
      if (!run.verdict.is_object()) run.verdict = nullptr;
    }
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const std::lock_guard lock(mutex_);
    say(fmt::format("{}: {} ({:.1f} s)", name_of(run),
                    run.verdict.is_object() ? text_at(run.verdict, "outcome") : "no verdict; see " + base + ".log",
                    run.seconds));
  }

  const RunOptions& options_;
  std::vector<SweepAxis> axes_;
  std::string folder_;
  std::vector<std::string> devices_;
  std::vector<SweepRun> runs_;
  std::vector<Largest> largest_;  // By device; empty without --largest.
  std::mutex mutex_;
};

std::string Sweep::text() const {
  std::vector<TextColumn> columns{{"device"}};
  for (const SweepAxis& axis : axes_) columns.push_back({axis.name, true});
  for (const char* title : {"peak", "pool", "in use at most"}) columns.push_back({title, true});
  columns.push_back({"verdict"});
  std::vector<std::vector<std::string>> rows;
  for (const SweepRun& run : runs_) {
    std::vector<std::string> row{run.device};
    for (const SweepValue& value : run.values) row.push_back(printable(value.value));
    const Json* device = tightest_of(run.verdict);
    for (const char* key : {"peak_bytes", "peak_pool_bytes", "peak_in_use_bytes"})
      row.push_back(bytes_cell(device, key));
    row.push_back(verdict_cell(run.verdict, device));
    rows.push_back(std::move(row));
  }
  std::string text = text_from_columns(columns, rows, Terminal::of_stdout(), Ink::plain);
  for (std::size_t i = 0; i < largest_.size(); ++i) {
    const auto& [value, why_unknown] = largest_[i];
    const std::string& name = axes_.front().name;
    if (!why_unknown.empty())
      text += fmt::format("{}: unknown, because {}\n", devices_[i], why_unknown);
    else if (value.empty())
      text += fmt::format("{}: not even the smallest {} fits\n", devices_[i], name);
    else
      text += fmt::format("{}: the largest {} that fits is {}\n", devices_[i], name, value);
  }
  return text + fmt::format("Recordings and output: {}\n", printable(folder_));
}

Json Sweep::json() const {
  Json json = {{"schema", 1}, {"folder", folder_}, {"runs", Json::array()}};
  for (const SweepRun& run : runs_) {
    Json values = Json::object();
    for (const SweepValue& value : run.values) values[value.name] = value.value;
    json["runs"].push_back(
        {{"device", run.device}, {"values", values}, {"seconds", run.seconds}, {"verdict", run.verdict}});
  }
  json["largest"] = Json::array();
  for (std::size_t i = 0; i < largest_.size(); ++i)
    json["largest"].push_back(
        {{"device", devices_[i]},
         {"name", axes_.front().name},
         {"value",
          largest_[i].value.empty() || !largest_[i].why_unknown.empty() ? Json(nullptr) : Json(largest_[i].value)}});
  return json;
}

Result<std::vector<SweepAxis>> axes_from(const RunOptions& options) {
  std::vector<SweepAxis> axes;
  for (const std::string& text : options.sweep) {
    auto axis = sweep_axis_from(text);
    if (!axis) return Failure(axis.error());
    axes.push_back(std::move(*axis));
  }
  const bool has_range = std::any_of(axes.begin(), axes.end(), [](const SweepAxis& axis) { return axis.is_range; });
  if (options.largest.empty()) {
    if (has_range)
      return Failure(refusal("--sweep NAME=FIRST..LAST is for --largest", "List the values, or add --largest NAME."));
  } else if (axes.size() != 1 || axes.front().name != options.largest) {
    return Failure(refusal("--largest needs one --sweep of the same name",
                           fmt::format("Add --sweep {}=1..64, or another range or list.", options.largest)));
  }
  std::vector<SweepValue> probe;
  for (const SweepAxis& axis : axes) probe.push_back({axis.name, axis.values.front()});
  if (const auto command = command_with(options.command, probe); !command) return Failure(command.error());
  for (const std::string& device : split(options.emulate, ','))
    if (const auto machine = emulated_machine_from(device, options.device_bytes); !machine)
      return Failure(machine.error());
  return axes;
}

}  // namespace

bool is_sweep(const RunOptions& options) {
  return !options.sweep.empty() || !options.largest.empty() || options.emulate.find(',') != std::string::npos;
}

int run_sweep(const RunOptions& options) {
  auto axes = axes_from(options);
  if (!axes) return fail(axes.error());
  std::string folder = options.record;
  if (folder.empty())
    folder = fmt::format("{}.{}.sweep", fs::path(options.command.front()).filename().string(), getpid());
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return fail(
        refusal(fmt::format("cannot make the folder: {}", error.message()), "Name another one with --record.", folder));
  Sweep sweep(options, std::move(*axes), folder);
  if (options.largest.empty())
    sweep.run_all();
  else
    sweep.find_largest();
  if (!print_to_stdout(options.json ? text_from_json(sweep.json()) : sweep.text())) return exit_unreadable;
  return sweep.has_all_verdicts() ? exit_ok : exit_unreadable;
}

}  // namespace hbmscope::cli
