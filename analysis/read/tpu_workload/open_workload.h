// An opened workload file: emulated, as a trace, and parsed, so that it can be emulated again with changes.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "allocator/emulated/tpu/emulation/emulation.h"
#include "analysis/read/format.h"
#include "analysis/read/tpu_workload/read_tpu_workload.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

using allocator::tpu::EmulatedWorkload;

struct OpenedWorkload {
  std::uint64_t file_bytes = 0;
  ParsedWorkload parsed;
  bool is_timed = false;
  std::vector<WorkloadKnob> knobs;
  std::vector<WorkloadChange> changes;
  std::shared_ptr<const EmulatedWorkload> now, unmodified;  // The same object if there are no changes.
  std::shared_ptr<const Trace> trace;
};

// The limit of steps in one emulation: about ten million events, and ten seconds.
constexpr std::uint64_t emulation_steps_max = 2'000'000'000;

// `timed`: events have modelled times. Errors: those of read_tpu_workload; cancelled; more than emulation_steps_max
// steps.
Result<EmulatedWorkload> emulate_workload(const ParsedWorkload& parsed, const std::vector<WorkloadChange>& changes,
                                          bool timed = false, std::vector<WorkloadKnob>* knobs = nullptr,
                                          const std::atomic<bool>* cancelled = nullptr);

// `file_bytes`: the size of the file, which may be compressed.
Result<OpenedWorkload> open_workload(ParsedWorkload parsed, std::uint64_t file_bytes, const FileOptions& options,
                                     const std::atomic<bool>* cancelled = nullptr);
// The same file with other changes, which replace the existing ones.
Result<OpenedWorkload> change_workload(const OpenedWorkload& opened, const std::vector<WorkloadChange>& changes,
                                       const std::atomic<bool>* cancelled = nullptr);

extern const Format workload_format;

}  // namespace hbmscope
