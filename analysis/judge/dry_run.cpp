#include "analysis/judge/dry_run.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "analysis/query/heap_rows.h"
#include "analysis/query/job_facts.h"
#include "analysis/query/user_code.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

std::vector<DeviceNeed> needs_from(const device::AccountsReport& accounts, const std::vector<ProcessReport>& reports,
                                   const EmulatedMachine& machine) {
  std::vector<DeviceNeed> needs;
  for (int device = 0; device < machine.count; ++device) {
    DeviceNeed need;
    need.device = device;
    need.total_bytes = machine.device_bytes;
    need.context_bytes = machine.device.context_bytes();
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
std::optional<RecordedFailure> find_last_failure(const Trace& trace, bool has_line, const IsWanted& is_wanted,
                                                 std::optional<std::int64_t> pid = {}) {
  for (auto stream = trace.streams.rbegin(); stream != trace.streams.rend(); ++stream) {
    if (pid && stream->definitions().job_fact("process") != std::to_string(*pid)) continue;
    for (std::size_t i = stream->failures().size(); i-- > 0;) {
      const FailureEvent& failure = stream->failures()[i];
      if (!is_wanted(failure)) continue;
      RecordedFailure found{stream->definitions().heap(failure.heap).name, row_from_failure(*stream, failure, nullptr)};
      if (!has_line || !found.row.own_line.empty()) return found;
    }
  }
  return std::nullopt;
}

// "train_step train.py:55" where the refused request was made. Empty if unknown.
std::string find_line_of(std::uint64_t refused_bytes, const Trace& trace) {
  const auto found = find_last_failure(
      trace, true, [&](const FailureEvent& failure) { return failure.requested_bytes == refused_bytes; });
  return found ? found->row.own_line : "";
}

// "GPU_0_bfc had no room for 4.00 GiB, requested by step train.py:12": the last time that a framework gave up; empty:
// never. Of one process, if `pid` is given.
std::string text_from_last_out_of_memory(const Trace& trace, std::optional<std::int64_t> pid = {}) {
  const auto found = find_last_failure(
      trace, false, [](const FailureEvent& one) { return one.is_out_of_memory && !one.is_refusal; }, pid);
  if (!found) return {};
  return fmt::format("{} had no room for {}{}", printable(found->heap), text_from_bytes(found->row.requested_bytes),
                     found->row.own_line.empty() ? "" : ", requested by " + found->row.own_line);
}

// What is known about lack of memory besides exceptions.
struct MemoryEvidence {
  std::string recorded;  // What a framework's pool had no room for.
  std::optional<Refusal> refusal;
  std::string line;                  // Where the refused request was made.
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

// The failure that decides, if there are several: lack of memory first, then the command's own. In a run that
// succeeded, another failure of some process is the job's own business.
std::optional<DryRunFailure> choose_failure(const DryRunFindings& found) {
  const ProcessReport* chosen = nullptr;
  const auto rank = [&](const ProcessReport& report) {
    return (report.failure->is_out_of_memory ? 2 : 0) + (report.pid == found.pid ? 1 : 0);
  };
  for (const ProcessReport& report : found.reports) {
    if (!report.failure) continue;
    const bool has_ended_something = report.pid != found.pid || report.is_of_thread;
    if (found.exit_code == 0 && !(report.failure->is_out_of_memory && has_ended_something)) continue;
    if (chosen == nullptr || rank(report) > rank(*chosen)) chosen = &report;
  }
  if (chosen != nullptr) return chosen->failure;
  return std::nullopt;
}

DryRunFailure failure_from(const MemoryEvidence& evidence, std::int64_t pid) {
  DryRunFailure failure;
  failure.type = "refused";
  failure.text = evidence.text();
  failure.is_out_of_memory = true;
  failure.pid = evidence.refusal ? evidence.refusal->pid : pid;
  return failure;
}

// An array that JAX had no room for, in a process to which it never raised that. Programs run after the call that
// starts them, and their errors are raised where a value is read.
std::optional<DryRunFailure> find_unread(const DryRun& run, const std::vector<ProcessReport>& reports) {
  for (const ProcessReport& report : reports) {
    if (run.trace == nullptr || report.jax_errors != 0U) continue;
    if (std::string text = text_from_last_out_of_memory(*run.trace, report.pid); !text.empty())
      return DryRunFailure{"refused", std::move(text), true, {}, {}, 0, report.pid};
  }
  return std::nullopt;
}

void judge(DryRun& run, const DryRunFindings& found, const MemoryEvidence& evidence) {
  const std::vector<ProcessReport>& reports = found.reports;
  run.failure = choose_failure(found);
  for (const ProcessReport& report : reports)  // A process of multiprocessing that PyTorch had refused memory.
    if (!run.failure && report.has_ended_with_error && report.refused_requests() > 0)
      run.failure = failure_from(evidence, report.pid);
  const bool is_interrupted = found.is_interrupted || (run.failure && run.failure->type == "KeyboardInterrupt");
  if (!run.failure && run.exit_code != 0 && !is_interrupted && evidence.is_any())
    run.failure = failure_from(evidence, found.pid);
  if (!run.failure && !is_interrupted) {
    run.failure = find_unread(run, reports);
    run.is_unread = run.failure.has_value();
  }
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
    run.reason = found.exit_text;
    const std::int64_t pid = run.failure ? run.failure->pid : found.pid;
    for (const ProcessReport& report : reports)
      if (report.pid == pid) run.called_in_vain.assign(report.not_emulated.rbegin(), report.not_emulated.rend());
  } else if (!run.needs.empty()) {
    run.outcome = DryRunOutcome::fits;
  } else {
    run.reason = run.tpu ? "no array was made on the slice, and no program ran there"
                         : "no process of the command used an emulated device";
    if (!found.doubt.empty()) run.reason += ": " + found.doubt;
  }
}

void prove(DryRun& run, const device::AccountsReport& accounts, const std::vector<ProcessReport>& reports,
           const Trace* trace) {
  std::vector<TrainingReport> training;
  std::vector<AssumedSize> assumed;
  for (const ProcessReport& report : reports) {
    training.push_back(report.training);
    assumed.insert(assumed.end(), report.assumed.begin(), report.assumed.end());
  }
  run.proof = {value_reads_from(accounts.reads, assumed, trace), accounts.large_reads, training_from(training, trace)};
}

}  // namespace

std::string EmulatedMachine::name_of_device(int number) const {
  return fmt::format("{} {}", tpu != nullptr ? "TPU" : "GPU", number);
}

Result<Source> read_at_peak(const std::string& recording) {
  if (recording.empty()) return Failure(refusal("there is no recording", ""));
  SourceOptions options;
  options.at = "peak";
  auto source = read_source(recording, options);
  return source ? std::move(source) : read_source(recording, {});
}

std::optional<RecordedVerdict> find_recorded_verdict(const Trace& trace) {
  for (const Stream& stream : trace.streams) {
    const Definitions& facts = stream.definitions();
    if (const std::string_view text = facts.job_fact(dry_run_verdict_fact); !text.empty())
      return RecordedVerdict{std::string(facts.job_fact(dry_run_outcome_fact)), std::string(text)};
  }
  return std::nullopt;
}

namespace {

// The most that the pool had from the driver. 0 if unknown.
std::uint64_t pool_peak_of(const Stream& stream, std::uint32_t heap) {
  std::uint64_t bytes = 0;
  for (const TimelineBucket& bucket : stream.timeline(heap).buckets(0, std::numeric_limits<std::uint64_t>::max(), 1)) {
    if (bucket.is_inexact || !bucket.knows_regions) return 0;
    bytes = std::max(bytes, bucket.most.pool);
  }
  return bytes;
}

void raise(std::optional<std::uint64_t>& peak, std::uint64_t recorded) {
  if (recorded != 0) peak = std::max(peak.value_or(0), recorded);
}

void take_use(const Stream& stream, FrameworkUse& use) {
  const std::string_view preallocates = stream.definitions().job_fact("variable.XLA_PYTHON_CLIENT_PREALLOCATE");
  use.grows_on_demand = preallocates == "false" || preallocates == "False" || preallocates == "0";
  // The pool is the driver's, which keeps up to the limit.
  const bool is_async = stream.definitions().job_fact("variable.XLA_PYTHON_CLIENT_ALLOCATOR") == "cuda_async";
  for (const HeapInfo& heap : stream.definitions().heaps()) {
    if (!heap.has(wire::heap_flag::is_inside_of_driver) || heap.memory_kind != "device" || heap.device != use.ordinal)
      continue;
    const HeapPeak peak = stream.peak(heap.id);
    if (!peak.is_inexact) raise(use.peak_in_use_bytes, peak.in_use_bytes);
    if (!is_async) raise(use.peak_pool_bytes, pool_peak_of(stream, heap.id));
  }
}

// Takes from the recording what the frameworks do not say of themselves, and raises the peaks of their pools to those
// that were recorded: a program may have reset its framework's statistics. Peaks that lost events make inexact are left
// out.
void take_recorded_use(const Trace& trace, std::span<DeviceNeed> needs) {
  for (DeviceNeed& need : needs)
    for (FrameworkUse& use : need.frameworks)
      for (const Stream& stream : trace.streams)
        if (stream.definitions().job_fact("process") == std::to_string(use.pid)) take_use(stream, use);
}

}  // namespace

std::vector<DryRunHolder> find_holders(const Source& at_peak) {
  constexpr std::size_t holders_max = 5;
  std::vector<DryRunHolder> holders;
  const auto view = make_view(at_peak.profile, {});
  if (!view) return holders;
  for (const UserCodeRow& row : compute_user_code(*view)) {
    if (row.has_no_user_code() || row.weight.bytes <= 0) continue;
    std::string line =
        fmt::format("{} {}:{}", printable(row.frame.function),
                    printable(std::filesystem::path(row.frame.file).filename().string()), row.frame.line);
    // A line may have called several functions.
    const auto known =
        std::find_if(holders.begin(), holders.end(), [&](const DryRunHolder& holder) { return holder.line == line; });
    if (known != holders.end())
      known->bytes += static_cast<std::uint64_t>(row.weight.bytes);
    else
      holders.push_back({std::move(line), static_cast<std::uint64_t>(row.weight.bytes)});
  }
  std::stable_sort(holders.begin(), holders.end(),
                   [](const DryRunHolder& a, const DryRunHolder& b) { return a.bytes > b.bytes; });
  holders.resize(std::min(holders.size(), holders_max));
  return holders;
}

std::string text_from_holders(std::span<const DryRunHolder> holders, std::uint64_t total_bytes) {
  constexpr std::size_t shown_max = 3, hundredth = 100;
  std::string text;
  for (const DryRunHolder& holder : holders.first(std::min(shown_max, holders.size())))
    if (holder.bytes >= total_bytes / hundredth)
      text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", text_from_bytes(holder.bytes), holder.line);
  return text;
}

DryRun judge_dry_run(const DryRunFindings& found) {
  DryRun run;
  run.machine = found.machine;
  run.exit_code = found.exit_code;
  run.recording = found.recording;
  run.host_peak_bytes = found.host_peak_bytes;
  MemoryEvidence evidence;
  evidence.has_memory_dumps = found.has_memory_dumps;
  for (const ProcessReport& report : found.reports) {
    evidence.torch_refusals += report.refused_requests();
    run.has_rnn_estimates |= !report.estimated.empty();
  }
  if (found.machine.tpu != nullptr) {
    run.tpu = found.tpu.value_or(TpuRun());
    run.needs = tpu_needs_from(found.tpu_accounts, found.machine, *run.tpu);
  } else {
    run.needs = needs_from(found.accounts, found.reports, found.machine);
    evidence.refusal = find_refusal(found.accounts, found.machine);
  }
  if (found.at_peak) run.trace = found.at_peak->trace;
  const Trace* trace = run.trace.get();
  if (trace != nullptr) {
    if (evidence.refusal) evidence.line = find_line_of(evidence.refusal->bytes, *trace);
    evidence.is_unanswered = find_last_failure(*trace, false, [](const FailureEvent& one) {
                               return one.is_out_of_memory && one.is_refusal;
                             }).has_value();
    evidence.recorded = text_from_last_out_of_memory(*trace);
    run.holders = find_holders(*found.at_peak);
    take_recorded_use(*trace, run.needs);
  }
  prove(run, found.accounts, found.reports, trace);
  judge(run, found, evidence);
  if (run.tpu) explain_tpu_run(run);
  return run;
}

}  // namespace hbmscope
