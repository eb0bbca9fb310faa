#include "analysis/read/tpu_workload/open_workload.h"

#include <utility>

#include <fmt/format.h>

#include "analysis/read/tpu_workload/trace_from_emulation.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

// Into `opened`, which knows the text and has been emulated as it is written, where there are changes.
Result<OpenedWorkload> with_changes(OpenedWorkload opened, const std::vector<WorkloadChange>& changes,
                                    const std::atomic<bool>* cancelled) {
  auto run = emulate_workload(*opened.text, opened.name, changes, false, &opened.knobs, cancelled);
  if (!run) return Failure(std::move(run.error()));
  opened.changes = changes;
  Trace trace = trace_from_emulation(run->workload, run->emulation, opened.name, opened.file_bytes);
  add_problem_statistics(trace);
  if (cancelled != nullptr && *cancelled) return Failure(Error{"emulating was cancelled", {}, opened.name, {}, false});
  opened.trace = std::make_shared<const Trace>(std::move(trace));
  run->emulation.events = {};
  opened.now = std::make_shared<const EmulatedWorkload>(std::move(*run));
  if (changes.empty()) opened.as_written = opened.now;
  return opened;
}

}  // namespace

Result<WorkloadChange> parse_workload_change(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos && equals > 0)
    return WorkloadChange{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  return Failure(Error{fmt::format("'{}' changes nothing", printable(text)),
                       "Write KEY=VALUE, e.g. checkpointing=full.",
                       {},
                       {},
                       false});
}

std::string text_from_workload_change(const WorkloadChange& change) {
  return change.key + "=" + change.value;
}

Result<EmulatedWorkload> emulate_workload(std::span<const std::uint8_t> bytes, const std::string& name,
                                          const std::vector<WorkloadChange>& changes, bool timed,
                                          std::vector<WorkloadKnob>* knobs, const std::atomic<bool>* cancelled) {
  auto workload = read_tpu_workload(bytes, name, changes, knobs);
  if (!workload) return Failure(std::move(workload.error()));
  workload->options.is_timed = timed;
  EmulatedWorkload run{std::move(*workload), {}};
  allocator::tpu::Work work(emulation_steps_max, cancelled);
  run.emulation = allocator::tpu::emulate(run.workload, &work);
  if (work.is_cancelled()) return Failure(Error{"emulating was cancelled", {}, name, {}, false});
  if (!work.is_over()) return run;
  const std::uint64_t events = run.emulation.events.size();
  return Failure(Error{fmt::format("the workload is too large to be emulated; after {} events it is not done",
                                   text_from_count(static_cast<std::int64_t>(events))),
                       "Fewer runs, fewer operations or a coarser grid show the same.",
                       name,
                       {},
                       false});
}

Result<OpenedWorkload> open_workload(std::span<const std::uint8_t> bytes, const std::string& name,
                                     std::uint64_t file_bytes, const std::vector<WorkloadChange>& changes,
                                     const std::atomic<bool>* cancelled) {
  OpenedWorkload opened;
  opened.name = name;
  opened.file_bytes = file_bytes;
  opened.text = std::make_shared<const std::vector<std::uint8_t>>(bytes.begin(), bytes.end());
  if (!changes.empty()) {
    auto run = emulate_workload(bytes, name, {}, false, nullptr, cancelled);
    if (!run) return Failure(std::move(run.error()));
    run->emulation.events = {};
    opened.as_written = std::make_shared<const EmulatedWorkload>(std::move(*run));
  }
  return with_changes(std::move(opened), changes, cancelled);
}

Result<OpenedWorkload> change_workload(const OpenedWorkload& opened, const std::vector<WorkloadChange>& changes,
                                       const std::atomic<bool>* cancelled) {
  return with_changes(opened, changes, cancelled);
}

}  // namespace hbmscope
