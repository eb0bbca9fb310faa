#include "analysis/read/tpu_workload/open_workload.h"

#include <utility>

#include <fmt/format.h>

#include "analysis/read/gzip.h"
#include "analysis/read/tpu_workload/trace_from_emulation.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

// Applies changes, if any, to an opened file that was already emulated unmodified.
Result<OpenedWorkload> with_changes(OpenedWorkload opened, const std::vector<WorkloadChange>& changes,
                                    const std::atomic<bool>* cancelled) {
  auto run = emulate_workload(opened.parsed, changes, opened.is_timed, &opened.knobs, cancelled);
  if (!run) return Failure(std::move(run.error()));
  opened.changes = changes;
  Trace trace = trace_from_emulation(run->workload, run->emulation, opened.parsed.name(), opened.file_bytes);
  add_problem_statistics(trace);
  if (cancelled != nullptr && *cancelled) return Failure(refusal("emulating was cancelled", {}, opened.parsed.name()));
  opened.trace = std::make_shared<Trace>(std::move(trace));
  run->emulation.events = {};
  opened.now = std::make_shared<const EmulatedWorkload>(std::move(*run));
  if (changes.empty()) opened.unmodified = opened.now;
  return opened;
}

}  // namespace

Result<EmulatedWorkload> emulate_workload(const ParsedWorkload& parsed, const std::vector<WorkloadChange>& changes,
                                          bool timed, std::vector<WorkloadKnob>* knobs,
                                          const std::atomic<bool>* cancelled) {
  auto workload = parsed.workload_with(changes, knobs);
  if (!workload) return Failure(std::move(workload.error()));
  workload->options.is_timed = timed;
  EmulatedWorkload run{std::move(*workload), {}};
  allocator::tpu::Work work(emulation_steps_max, cancelled);
  run.emulation = allocator::tpu::emulate(run.workload, &work);
  if (work.is_cancelled()) return Failure(refusal("emulating was cancelled", {}, parsed.name()));
  if (!work.is_over()) return run;
  const std::uint64_t events = run.emulation.events.size();
  return Failure(refusal(fmt::format("the workload is too large to emulate; it is not done after {} events",
                                     text_from_count(static_cast<std::int64_t>(events))),
                         "Fewer runs, fewer operations or a coarser grid show the same.", parsed.name()));
}

Result<OpenedWorkload> open_workload(ParsedWorkload parsed, std::uint64_t file_bytes, const FileOptions& options,
                                     const std::atomic<bool>* cancelled) {
  OpenedWorkload opened;
  opened.file_bytes = file_bytes;
  opened.parsed = std::move(parsed);
  opened.is_timed = options.is_timed;
  if (!options.what_if.empty()) {
    auto run = emulate_workload(opened.parsed, {}, options.is_timed, nullptr, cancelled);
    if (!run) return Failure(std::move(run.error()));
    run->emulation.events = {};
    opened.unmodified = std::make_shared<const EmulatedWorkload>(std::move(*run));
  }
  return with_changes(std::move(opened), options.what_if, cancelled);
}

Result<OpenedWorkload> change_workload(const OpenedWorkload& opened, const std::vector<WorkloadChange>& changes,
                                       const std::atomic<bool>* cancelled) {
  return with_changes(opened, changes, cancelled);
}

constinit const Format workload_format = {
    .name = "a TPU workload",
    .other_endings = ".json",
    .looks_like = [](InputFile& file) { return looks_like_tpu_workload(file.beginning()); },
    .read = [](InputFile& file, const FileOptions& options, ReadControl* control) -> Result<FileContent> {
      const auto bytes = file.bytes();
      if (!bytes) return Failure(bytes.error());
      ImportStatistics unused;  // Trailing bytes don't affect the result.
      const auto text = unzip(*bytes, file.name(), options.max_inflated_bytes, unused);
      if (!text) return Failure(text.error());
      auto parsed = ParsedWorkload::parse(text->bytes, file.name());
      if (!parsed) return Failure(text->reported(std::move(parsed.error())));
      auto opened =
          open_workload(std::move(*parsed), bytes->size(), options, control == nullptr ? nullptr : &control->cancelled);
      if (!opened) return Failure(text->reported(std::move(opened.error())));
      FileContent content;
      content.workload = std::make_shared<const OpenedWorkload>(std::move(*opened));
      content.trace = content.workload->trace;
      return content;
    },
    .beginning = "one begins with { and the key hbmscope_tpu_workload",
    .hint = "analysis/read/tpu_workload/README.md describes the file; samples/tpu has some.",
    .is_workload = true,
};

}  // namespace hbmscope
