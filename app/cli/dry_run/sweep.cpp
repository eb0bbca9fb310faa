#include "app/cli/dry_run/sweep.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/document/text.h"
#include "analysis/read/json_fields.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "app/cli/answer_text.h"
#include "app/cli/cli.h"
#include "app/cli/dry_run/dry_run.h"
#include "app/cli/dry_run/emulated_machine.h"
#include "app/cli/dry_run/emulated_program.h"
#include "app/cli/dry_run/sweep_axis.h"
#include "app/cli/dry_run/sweep_runs.h"
#include "app/cli/dry_run/tpu_program.h"
#include "app/cli/jobs/run.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Unknown if the object does not have it, or is none.
Value bytes_at(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_number() ? Value(object[key].get<std::uint64_t>())
                                                                               : Value();
}

// The largest of a framework's figures, as the processes of a job do about the same.
Value largest_of(const Json& device, const char* key) {
  Value largest;
  if (device.is_object())
    for (const Json& framework : device["frameworks"])
      if (const Value bytes = bytes_at(framework, key); is_less(largest, bytes)) largest = bytes;
  return largest;
}

bool is_of_tpus(const SweepRun& run) {
  return run.verdict.is_object() && run.verdict.contains("tpu");
}

// " by 2.15 GiB": what is missing on a TPU, as far as it is known.
std::string missing_text(const SweepRun& run) {
  if (!is_of_tpus(run) || !run.verdict["tpu"]["over_bytes"].is_number()) return {};
  return " by " + text_from_bytes(run.verdict["tpu"]["over_bytes"].get<std::uint64_t>());
}

// What a run that fits does not prove: its name in `doubts`, and a footnote.
struct Doubt {
  const char *name, *mark, *text;
};
constexpr Doubt all_doubts[] = {
    {"sizes", "¹", "A size depends on values that a dry run does not compute"},
    {"values", "²", "A size or a branch may depend on values that a dry run does not compute"},
    {"training", "³", "No optimizer step was seen, or only one"}};

bool has_doubt(const SweepRun& run, const char* name) {
  if (run.outcome() != "fits") return false;
  const Json& doubts = run.verdict["doubts"];
  return std::find(doubts.begin(), doubts.end(), name) != doubts.end();
}

std::string verdict_cell(const SweepRun& run) {
  const std::string outcome = run.outcome();
  if (const Json* device = run.fullest_device(); outcome == "fits" && device != nullptr) {
    std::string text =
        fmt::format("fits, {} to spare{}", text_from_bytes((*device)["spare_bytes"].get<std::uint64_t>()),
                    (*device)["is_limited_by_pool"].get<bool>() ? " in the pool" : "");
    for (const Doubt& doubt : all_doubts)
      if (has_doubt(run, doubt.name)) text += doubt.mark;
    return text;
  }
  if (!run.verdict.is_object()) return outcome;
  const Json& failure = run.verdict["failure"];
  if (!failure.is_object()) return outcome + ": " + text_at(run.verdict, "reason");
  const std::string file = fs::path(text_at(failure, "file")).filename().string();
  std::string text =
      outcome == "out of memory" ? outcome + missing_text(run) : outcome + ": " + printable(text_at(failure, "type"));
  if (!file.empty()) text += fmt::format(", {}:{}", printable(file), failure["line"].get<int>());
  return text;
}

class Sweep {
 public:
  Sweep(std::vector<std::string> devices, std::vector<SweepAxis> axes, SweepRuns& work)
      : axes_(std::move(axes)), work_(work), devices_(std::move(devices)) {}

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
      for (const auto& combination : combinations) runs_.push_back({device, combination, {}, 0, false, false});
    work_.for_each(runs_.size(), [&](std::size_t i) { work_.execute(runs_[i]); });
  }

  // For each device: bisects between the values of the one axis, which must need more and more memory.
  void find_largest() {
    std::vector<std::vector<SweepRun>> of_device(devices_.size());
    largest_.resize(devices_.size());
    work_.for_each(devices_.size(), [&](std::size_t i) { bisect(devices_[i], of_device[i], largest_[i]); });
    for (auto& runs : of_device) std::move(runs.begin(), runs.end(), std::back_inserter(runs_));
  }

  Table table() const;  // It must not outlive the sweep.
  std::string text() const;
  Json json() const;
  bool has_all_verdicts() const {
    return std::all_of(runs_.begin(), runs_.end(), [](const SweepRun& run) { return run.verdict.is_object(); });
  }
  // Not because memory ran out.
  bool has_failed() const {
    return std::any_of(runs_.begin(), runs_.end(), [](const SweepRun& run) { return run.outcome() == "failed"; });
  }

 private:
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
    std::vector<std::int64_t> places;  // Places in the list of runs.
    const auto run_at = [&](std::int64_t at, bool is_confirmed) {
      runs.push_back({device, {{axis.name, value_at(at)}}, {}, 0, false, is_confirmed});
      work_.execute(runs.back());
      places.push_back(at);
      return runs.back().outcome();
    };
    while (high - low > 1 && largest.why_unknown.empty()) {
      const std::int64_t middle = low + (high - low) / 2;
      const std::string outcome = run_at(middle, false);
      if (outcome == "fits")
        low = middle;
      else if (outcome == "out of memory")
        high = middle;
      else
        largest.why_unknown = fmt::format("{} = {} {}{}", axis.name, value_at(middle), outcome == "failed" ? "" : "is ",
                                          verdict_cell(runs.back()));
    }
    if (work_.is_quick() && largest.why_unknown.empty()) {
      if (const auto confirmed = confirm(low, first, last, run_at))
        low = *confirmed;
      else
        largest.why_unknown = fmt::format("{} without --quick is {}", axis.name, verdict_cell(runs.back()));
    }
    if (low >= first) largest.value = value_at(low);
    sort_by(places, runs);
  }

  // The real compiler may need more or less than the quick one: runs without --quick around the quick answer decide.
  // No value: such a run ended without an answer.
  template <class RunAt>
  static std::optional<std::int64_t> confirm(std::int64_t quick, std::int64_t first, std::int64_t last,
                                             const RunAt& run_at) {
    const auto fits = [&](std::int64_t at) -> std::optional<bool> {
      const std::string outcome = run_at(at, true);
      if (outcome != "fits" && outcome != "out of memory") return std::nullopt;
      return outcome == "fits";
    };
    std::int64_t at = std::max(quick, first);
    auto answer = fits(at);
    const bool goes_up = answer.value_or(false);
    while (answer && *answer == goes_up && (goes_up ? at < last : at > first)) answer = fits(goes_up ? ++at : --at);
    if (!answer) return std::nullopt;
    return *answer ? at : at - 1;
  }

  // In the order of the values.
  static void sort_by(const std::vector<std::int64_t>& places, std::vector<SweepRun>& runs) {
    std::vector<std::size_t> order(runs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return places[a] < places[b]; });
    std::vector<SweepRun> sorted;
    for (const std::size_t at : order) sorted.push_back(std::move(runs[at]));
    runs = std::move(sorted);
  }

  std::vector<SweepAxis> axes_;
  SweepRuns& work_;
  std::vector<std::string> devices_;
  std::vector<SweepRun> runs_;
  std::vector<Largest> largest_;  // By device; empty without --largest.
};

Table Sweep::table() const {
  Table table{.columns = {{.title = "Device"}}, .shown = runs_.size()};
  for (const SweepAxis& axis : axes_) table.columns.push_back({.title = axis.name, .unit = Unit::count});
  const std::size_t verdict = table.columns.size() + 5;
  constexpr std::uint8_t ranks[] = {0, 2, 1, 3, 3};
  for (std::size_t i = 0; const char* title : {"Peak", "Pool", "In use at most", "Loaded programs", "Padding"})
    table.columns.push_back({.title = title, .unit = Unit::bytes, .rank = ranks[i++]});
  table.columns.push_back({.title = "Verdict", .is_whole = true});
  table.columns.push_back({.title = "Host memory", .unit = Unit::bytes, .rank = 4});
  table.columns.push_back({.title = "Time", .unit = Unit::count, .rank = 5});
  std::vector<std::vector<Value>> rows;
  std::vector<Tone> tones;
  for (const SweepRun& run : runs_) {
    auto& row = rows.emplace_back(std::vector<Value>{run.device});
    for (const SweepValue& value : run.values) row.emplace_back(value.value);
    const Json* fullest = run.fullest_device();
    const Json device = fullest != nullptr ? *fullest : Json(),
               tpu = device.is_object() ? device.value("tpu", Json()) : Json();
    row.insert(
        row.end(),
        {bytes_at(device, "peak_bytes"), largest_of(device, "peak_pool_bytes"), largest_of(device, "peak_in_use_bytes"),
         bytes_at(tpu, "program_bytes"), bytes_at(tpu, "padding_bytes"),
         verdict_cell(run) + (run.is_confirmed ? " (without --quick)" : ""), bytes_at(run.verdict, "host_peak_bytes"),
         run.has_started ? Value(fmt::format("{:.1f} s", run.seconds)) : Value()});
    tones.push_back(run.outcome() == "fits" ? Tone::good : run.outcome() == "out of memory" ? Tone::bad : Tone::plain);
  }
  table.rows = std::move(rows);
  table.cell_tone = [tones, verdict](std::size_t row, std::size_t column) {
    return column == verdict ? tones[row] : Tone::plain;
  };
  return table;
}

std::string Sweep::text() const {
  std::set<std::uint64_t> contexts;
  for (const SweepRun& run : runs_)
    if (const Json* device = run.fullest_device()) contexts.insert((*device)["context_bytes"].get<std::uint64_t>());
  const TextStyle style = Terminal::of_stdout().style();
  std::string text = text_from_table(table(), style);
  const auto add = [&](const std::string& line) { text += wrapped(line, style.width) + "\n"; };
  for (std::size_t i = 0; i < largest_.size(); ++i) {
    const auto& [value, why_unknown] = largest_[i];
    const std::string& name = axes_.front().name;
    if (!why_unknown.empty())
      add(fmt::format("{}: unknown, because {}", devices_[i], why_unknown));
    else if (value.empty())
      add(fmt::format("{}: not even the smallest {} fits", devices_[i], name));
    else if (value == axes_.front().values.back())
      add(fmt::format("{}: every {} fits, up to the last one tried, {}; larger ones may fit, too", devices_[i], name,
                      value));
    else
      add(fmt::format("{}: the largest {} that fits is {}", devices_[i], name, value));
  }
  for (const Doubt& doubt : all_doubts)
    if (std::any_of(runs_.begin(), runs_.end(), [&](const SweepRun& run) { return has_doubt(run, doubt.name); }))
      add(fmt::format("{} {}; without the sweep, or with --json, the lines are named.", doubt.mark, doubt.text));
  contexts.erase(0);
  if (contexts.size() == 1) add(text_from_assumptions(*contexts.begin()));
  if (contexts.size() > 1)
    add(fmt::format("{} The contexts of the other devices take up to {}.", text_from_assumptions(*contexts.begin()),
                    text_from_bytes(*contexts.rbegin())));
  if (std::any_of(runs_.begin(), runs_.end(), is_of_tpus)) add(std::string(tpu_assumptions));
  add(fmt::format("Recordings and output: {}; hbmscope report --series {} compares them", printable(work_.folder()),
                  printable(work_.folder())));
  return text;
}

Json Sweep::json() const {
  Json json = {{"schema", 1}, {"folder", work_.folder()}, {"runs", Json::array()}};
  for (const SweepRun& run : runs_) {
    Json values = Json::object();
    for (const SweepValue& value : run.values) values[value.name] = value.value;
    json["runs"].push_back({{"device", run.device},
                            {"values", values},
                            {"outcome", run.outcome()},
                            {"seconds", run.seconds},
                            {"verdict", run.verdict}});
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
    for (const SweepAxis& other : axes)
      if (other.name == axis->name)
        return Failure(
            refusal(fmt::format("--sweep {} is given twice", printable(axis->name)),
                    fmt::format("Write all of its values in one: --sweep {}=4,8,16.", printable(axis->name))));
    axes.push_back(std::move(*axis));
  }
  const bool has_range = std::any_of(axes.begin(), axes.end(), [](const SweepAxis& axis) { return axis.is_range; });
  if (options.largest.empty()) {
    if (has_range)
      return Failure(refusal("--sweep NAME=FIRST..LAST is for --largest", "List the values, or add --largest NAME."));
  } else if (axes.size() != 1 || axes.front().name != options.largest) {
    return Failure(refusal("--largest needs one --sweep of the same name",
                           fmt::format("Add --sweep {}=1..64, or another range or list.", printable(options.largest))));
  }
  return axes;
}

// What would stop every run is said before the first one.
Result<void> check_one(const RunOptions& options, const std::vector<SweepAxis>& axes,
                       const std::vector<std::string>& devices) {
  std::vector<SweepValue> first;
  for (const SweepAxis& axis : axes) first.push_back({axis.name, axis.values.front()});
  const auto command = command_with(options.command, first);
  if (!command) return Failure(command.error());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto machine = emulated_machine_from(devices[i], options.device_bytes);
    if (!machine) return Failure(machine.error());
    if (std::find(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(i), devices[i]) !=
        devices.begin() + static_cast<std::ptrdiff_t>(i))
      return Failure(refusal(fmt::format("--emulate names {} twice", printable(devices[i])), "Name each device once."));
    if (i > 0) continue;
    const auto program = machine->tpu != nullptr
                             ? prepare_tpu_program(*command, *machine, {options.is_quick, options.runs_ahead, {}})
                             : prepare_program(*command, *machine);
    if (!program) return Failure(program.error());
    for (const std::string& note : program->notes) say(note);
  }
  return {};
}

// Earlier recordings would be taken for this sweep's.
Result<std::string> make_folder(const RunOptions& options) {
  std::string folder = options.record;
  if (folder.empty()) folder = fmt::format("{}.{}.sweep", name_of_job(options.command), getpid());
  std::error_code error;
  fs::create_directories(folder, error);
  const bool is_empty = !error && fs::is_empty(folder, error);
  if (error)
    return Failure(
        refusal(fmt::format("cannot make the folder: {}", error.message()), "Name another one with --record.", folder));
  if (!is_empty) return Failure(refusal("the folder is not empty", "Name another one with --record.", folder));
  return folder;
}

}  // namespace

bool is_sweep(const RunOptions& options) {
  return !options.sweep.empty() || !options.largest.empty() || options.emulate.find(',') != std::string::npos;
}

int run_sweep(const RunOptions& options) {
  if (!options.listen.address.empty())
    return fail(refusal("--listen does not go with a sweep", "Its runs would all listen on the same port."));
  auto axes = axes_from(options);
  if (!axes) return fail(axes.error());
  const std::vector<std::string> devices = split(options.emulate, ',');
  if (const auto possible = check_one(options, *axes, devices); !possible) return fail(possible.error());
  const auto folder = make_folder(options);
  if (!folder) return fail(folder.error());
  SweepRuns work(options, *folder);
  Sweep sweep(devices, std::move(*axes), work);
  if (options.largest.empty())
    sweep.run_all();
  else
    sweep.find_largest();
  const bool is_json = options.json || options.brief > 0;
  const Result<std::string> text = is_json ? text_from_answer(sweep.json(), options.brief) : sweep.text();
  if (!text) return fail(text.error());
  if (!print_to_stdout(*text)) return exit_unreadable;
  if (work.stop_signal() != 0) return 128 + work.stop_signal();
  if (!sweep.has_all_verdicts()) return exit_unreadable;
  return sweep.has_failed() ? exit_gate_failed : exit_ok;
}

}  // namespace hbmscope::cli
