// From what the processes of a run left behind to its outcome.
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "allocator/device/model/accounts.h"
#include "analysis/query/heap_rows.h"
#include "analysis/read/json_fields.h"
#include "analysis/read/source/read_source.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/child_process.h"
#include "app/cli/dry_run.h"
#include "app/cli/dry_run_recording.h"

namespace hbmscope::cli {
namespace {

namespace fs = std::filesystem;
using PlainJson = nlohmann::json;

struct FrameworkFigures {
  FrameworkUse use;
  int device = 0;
  std::uint64_t refused_requests = 0;
};

// As hbmscope_dry_run.py writes it.
struct ProcessReport {
  std::int64_t pid = 0;
  std::optional<DryRunFailure> failure;
  bool is_of_thread = false;          // The failure ended a thread, and the process went on.
  bool has_ended_with_error = false;  // For processes of Python's multiprocessing, whose failure is not known.
  std::vector<FrameworkFigures> figures;
  TrainingReport training;

  std::uint64_t refused_requests() const {
    std::uint64_t sum = 0;
    for (const FrameworkFigures& one : figures) sum += one.refused_requests;
    return sum;
  }
};

std::optional<std::uint64_t> bytes_at(const PlainJson& node, const char* key) {
  const auto found = node.find(key);
  if (found == node.end() || !found->is_number_integer() || *found < 0) return std::nullopt;
  return found->get<std::uint64_t>();
}
bool flag_at(const PlainJson& node, const char* key) {
  const auto found = node.find(key);
  return found != node.end() && found->is_boolean() && found->get<bool>();
}
std::vector<PlainJson> objects_at(const PlainJson& node, const char* key) {
  std::vector<PlainJson> objects;
  if (const auto found = node.find(key); found != node.end() && found->is_array())
    for (const PlainJson& one : *found)
      if (one.is_object()) objects.push_back(one);
  return objects;
}

DryRunFailure failure_from(const PlainJson& node, std::int64_t pid) {
  DryRunFailure failure;
  failure.pid = pid;
  failure.type = text_at(node, "type");
  failure.text = text_at(node, "text");
  failure.is_out_of_memory = flag_at(node, "is_out_of_memory");
  if (const auto frames = objects_at(node, "frames"); !frames.empty()) {
    failure.function = text_at(frames.back(), "function");
    failure.file = text_at(frames.back(), "file");
    failure.line = static_cast<int>(bytes_at(frames.back(), "line").value_or(0));
  }
  return failure;
}

std::vector<ProcessReport> read_reports(const std::string& folder) {
  std::vector<ProcessReport> reports;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; entry != end; entry.increment(error)) {
    if (entry->path().extension() != ".json") continue;
    std::ifstream file(entry->path(), std::ios::binary);
    const PlainJson node = PlainJson::parse(file, nullptr, false);
    if (!node.is_object()) continue;
    ProcessReport report;
    report.pid = static_cast<std::int64_t>(bytes_at(node, "pid").value_or(0));
    report.has_ended_with_error = flag_at(node, "has_ended_with_error");
    if (const auto failure = node.find("failure"); failure != node.end() && failure->is_object()) {
      report.failure = failure_from(*failure, report.pid);
      report.is_of_thread = flag_at(*failure, "is_of_thread");
    }
    for (const PlainJson& figures : objects_at(node, "frameworks"))
      report.figures.push_back({{text_at(figures, "framework"), report.pid, bytes_at(figures, "ordinal"),
                                 bytes_at(figures, "peak_in_use_bytes"), bytes_at(figures, "peak_pool_bytes"),
                                 bytes_at(figures, "limit_bytes"), bytes_at(figures, "pool_limit_bytes")},
                                static_cast<int>(bytes_at(figures, "device").value_or(0)),
                                bytes_at(figures, "refused_requests").value_or(0)});
    if (const auto training = node.find("training"); training != node.end() && training->is_object())
      report.training = {flag_at(*training, "has_optimizer"), bytes_at(*training, "steps")};
    reports.push_back(std::move(report));
  }
  std::sort(reports.begin(), reports.end(),
            [](const ProcessReport& a, const ProcessReport& b) { return a.pid < b.pid; });
  return reports;
}

std::vector<DeviceNeed> needs_from(const device::AccountsReport& accounts, const std::vector<ProcessReport>& reports,
                                   const EmulatedMachine& machine) {
  std::vector<DeviceNeed> needs;
  for (int device = 0; device < machine.count; ++device) {
    DeviceNeed need;
    need.device = device;
    need.total_bytes = machine.device_bytes;
    need.context_bytes = device::Settings{}.context_bytes;
    need.peak_bytes = accounts.peak_bytes[device];
    if (need.peak_bytes == 0) continue;
    for (const device::ProcessUse& process : accounts.processes)
      if (process.devices[device].peak_bytes != 0) ++need.processes;
    for (const ProcessReport& report : reports)
      for (const FrameworkFigures& figures : report.figures)
        if (figures.device == device &&
            figures.use.peak_pool_bytes.value_or(figures.use.peak_in_use_bytes.value_or(0)) != 0)
          need.frameworks.push_back(figures.use);
    needs.push_back(std::move(need));
  }
  return needs;
}

// The driver refused a request, and no later one of at least half the size succeeded.
struct Refusal {
  std::int64_t pid = 0;
  int device = 0;
  std::uint64_t bytes = 0;
};
std::optional<Refusal> find_refusal(const device::AccountsReport& accounts, const EmulatedMachine& machine) {
  for (const device::ProcessUse& process : accounts.processes)
    for (int device = 0; device < machine.count; ++device)
      if (const std::uint64_t bytes = process.devices[device].refused_bytes; bytes != 0)
        return Refusal{process.pid, device, bytes};
  return std::nullopt;
}

struct RecordedFailure {
  std::string heap;
  FailureRow row;
};
// The last one in the recording that is wanted and, if `has_line`, whose line of your code is known.
template <class IsWanted>
std::optional<RecordedFailure> find_last_failure(const Trace& trace, bool has_line, const IsWanted& is_wanted) {
  for (auto stream = trace.streams.rbegin(); stream != trace.streams.rend(); ++stream)
    for (std::size_t i = stream->failures().size(); i-- > 0;) {
      const FailureEvent& failure = stream->failures()[i];
      if (!is_wanted(failure)) continue;
      RecordedFailure found{stream->definitions().heap(failure.heap).name, row_from_failure(*stream, failure, nullptr)};
      if (!has_line || !found.row.own_line.empty()) return found;
    }
  return std::nullopt;
}

// "train_step train.py:55" where the refused request was made; empty: unknown.
std::string find_line_of(std::uint64_t refused_bytes, const Trace& trace) {
  const auto found = find_last_failure(
      trace, true, [&](const FailureEvent& failure) { return failure.requested_bytes == refused_bytes; });
  return found ? found->row.own_line : "";
}

// "GPU_0_bfc had no room for 4.00 GiB, requested by step train.py:12": the last time that a framework gave up; empty:
// never.
std::string text_from_last_out_of_memory(const Trace& trace) {
  const auto found =
      find_last_failure(trace, false, [](const FailureEvent& one) { return one.is_out_of_memory && !one.is_refusal; });
  if (!found) return {};
  return fmt::format("{} had no room for {}{}", printable(found->heap), text_from_bytes(found->row.requested_bytes),
                     found->row.own_line.empty() ? "" : ", requested by " + found->row.own_line);
}

// What is known about lack of memory besides exceptions.
struct Evidence {
  std::string recorded;  // What a framework's pool had no room for.
  std::optional<Refusal> refusal;
  std::string line;                  // Of the refused request.
  bool is_unanswered = false;        // Nothing followed the refusal until the job's end.
  std::uint64_t torch_refusals = 0;  // Requests that PyTorch's allocator has refused.
  bool has_memory_dumps = false;

  bool is_any() const { return !recorded.empty() || refusal || torch_refusals > 0 || has_memory_dumps; }
  std::string text() const {
    if (!recorded.empty()) return recorded;
    if (refusal)
      return fmt::format("the driver refused {} on GPU {}{}", text_from_bytes(refusal->bytes), refusal->device,
                         line.empty() ? "" : ", requested by " + line);
    if (torch_refusals > 0) return "PyTorch refused " + text_from_count_of(torch_refusals, "request");
    return has_memory_dumps ? "XLA's allocator refused a request" : "";
  }
};

// Of several failures the one that decides: lack of memory first, then the command's own. In a run that succeeded,
// another failure of some process is the job's own business.
std::optional<DryRunFailure> choose_failure(const std::vector<ProcessReport>& reports, const DryRunSources& sources) {
  const ProcessReport* chosen = nullptr;
  const auto rank = [&](const ProcessReport& report) {
    return (report.failure->is_out_of_memory ? 2 : 0) + (report.pid == sources.pid ? 1 : 0);
  };
  for (const ProcessReport& report : reports) {
    if (!report.failure) continue;
    const bool has_ended_something = report.pid != sources.pid || report.is_of_thread;
    if (sources.exit_code == 0 && !(report.failure->is_out_of_memory && has_ended_something)) continue;
    if (chosen == nullptr || rank(report) > rank(*chosen)) chosen = &report;
  }
  if (chosen != nullptr) return chosen->failure;
  return std::nullopt;
}

DryRunFailure failure_from(const Evidence& evidence, std::int64_t pid) {
  DryRunFailure failure;
  failure.type = "refused";
  failure.text = evidence.text();
  failure.is_out_of_memory = true;
  failure.pid = evidence.refusal ? evidence.refusal->pid : pid;
  return failure;
}

std::string text_from_exit(int code) {
  if (code <= 128 || code >= 128 + NSIG) return fmt::format("exit code {}", code);
  return fmt::format("killed by {}{}", name_of_signal(code - 128),
                     code == 128 + SIGKILL ? "; perhaps the host's memory ran out" : "");
}

bool is_interruption(int code) {
  return code == 128 + SIGINT || code == 128 + SIGTERM || code == 128 + SIGHUP;
}

void judge(DryRun& run, const DryRunSources& sources, const Evidence& evidence,
           const std::vector<ProcessReport>& reports) {
  run.failure = choose_failure(reports, sources);
  for (const ProcessReport& report : reports)  // A process of multiprocessing that PyTorch had refused memory.
    if (!run.failure && report.has_ended_with_error && report.refused_requests() > 0)
      run.failure = failure_from(evidence, report.pid);
  const bool is_interrupted =
      is_interruption(run.exit_code) || (run.failure && run.failure->type == "KeyboardInterrupt");
  if (!run.failure && run.exit_code != 0 && !is_interrupted && evidence.is_any())
    run.failure = failure_from(evidence, sources.pid);
  if (run.failure && run.failure->is_out_of_memory) {
    run.outcome = DryRunOutcome::out_of_memory;
    return;
  }
  const bool is_last = run.exit_code != 0 && evidence.recorded.empty() && evidence.refusal && evidence.is_unanswered;
  (is_last ? run.refused_last : run.survived) = evidence.text();
  if (is_interrupted) {
    run.reason = "it was interrupted";
  } else if (run.failure || run.exit_code != 0) {
    run.outcome = DryRunOutcome::failed;
    run.reason = text_from_exit(run.exit_code);
  } else if (!run.needs.empty()) {
    run.outcome = DryRunOutcome::fits;
  } else {
    run.reason = run.tpu ? "no array was made on the slice, and no program ran there"
                         : "no process of the command used an emulated device";
    if (!sources.doubt.empty()) run.reason += ": " + sources.doubt;
  }
}

void prove(DryRun& run, const device::AccountsReport& accounts, const std::vector<ProcessReport>& reports,
           const Trace* trace) {
  std::vector<TrainingReport> training;
  for (const ProcessReport& report : reports) training.push_back(report.training);
  run.proof = {value_reads_from(accounts.reads, trace), accounts.large_reads, training_from(training, trace)};
}

}  // namespace

Result<Source> read_at_peak(const std::string& recording) {
  if (recording.empty()) return Failure(refusal("there is no recording", ""));
  SourceOptions options;
  options.at = "peak";
  auto source = read_source(recording, options);
  return source ? std::move(source) : read_source(recording, {});
}

DryRun read_dry_run(const DryRunSources& sources) {
  DryRun run;
  run.machine = sources.machine;
  run.exit_code = sources.exit_code;
  run.recording = sources.recording;
  rusage usage{};
  if (getrusage(RUSAGE_CHILDREN, &usage) == 0) run.host_peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) << 10;
  const std::vector<ProcessReport> reports = read_reports(sources.folder);
  Evidence evidence;
  evidence.has_memory_dumps = sources.has_memory_dumps;
  for (const ProcessReport& report : reports) evidence.torch_refusals += report.refused_requests();
  if (sources.machine.tpu != nullptr) {
    run.tpu = sources.tpu.value_or(TpuRun());
    run.needs = tpu_needs_from(sources.folder, sources.machine, *run.tpu);
  }
  device::AccountsReport accounts;
  if (device::Accounts* file = device::Accounts::open(sources.folder + "/" + device::accounts_file_name))
    accounts = file->report();
  if (sources.machine.tpu == nullptr) {
    run.needs = needs_from(accounts, reports, sources.machine);
    evidence.refusal = find_refusal(accounts, sources.machine);
  }
  std::shared_ptr<const Trace> trace;
  if (const auto source = read_at_peak(run.recording); source && source->trace) {
    trace = source->trace;
    if (evidence.refusal) evidence.line = find_line_of(evidence.refusal->bytes, *source->trace);
    evidence.is_unanswered = find_last_failure(*source->trace, false, [](const FailureEvent& one) {
                               return one.is_out_of_memory && one.is_refusal;
                             }).has_value();
    evidence.recorded = text_from_last_out_of_memory(*source->trace);
    run.holders = find_holders(*source);
    take_recorded_peaks(*source->trace, run.needs);
  }
  prove(run, accounts, reports, trace.get());
  judge(run, sources, evidence, reports);
  if (run.tpu) explain_tpu_run(run);
  return run;
}

}  // namespace hbmscope::cli
