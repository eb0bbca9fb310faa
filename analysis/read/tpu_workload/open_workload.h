// A workload file as it is opened: emulated, as a trace, with its text, so that it can be emulated again with changes.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "allocator/tpu/emulation/emulation.h"
#include "analysis/read/format.h"
#include "analysis/read/tpu_workload/read_tpu_workload.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

using allocator::tpu::EmulatedWorkload;

struct OpenedWorkload {
  std::string name;
  std::uint64_t file_bytes = 0;
  std::shared_ptr<const std::vector<std::uint8_t>> text;
  std::vector<WorkloadKnob> knobs;
  std::vector<WorkloadChange> changes;
  std::shared_ptr<const EmulatedWorkload> now, as_written;  // One and the same without changes. Events are the trace's.
  std::shared_ptr<const Trace> trace;
};

// Steps that one emulation may take: some ten million events, some ten seconds.
constexpr std::uint64_t emulation_steps_max = 2'000'000'000;

// `timed`: its events have times, modelled. Errors: those of read_tpu_workload; cancelled; it would take more than
// emulation_steps_max.
Result<EmulatedWorkload> emulate_workload(std::span<const std::uint8_t> bytes, const std::string& name,
                                          const std::vector<WorkloadChange>& changes, bool timed = false,
                                          std::vector<WorkloadKnob>* knobs = nullptr,
                                          const std::atomic<bool>* cancelled = nullptr);

// `file_bytes`: of the file, of which `bytes` may be what came out of gzip.
Result<OpenedWorkload> open_workload(std::span<const std::uint8_t> bytes, const std::string& name,
                                     std::uint64_t file_bytes, const std::vector<WorkloadChange>& changes,
                                     const std::atomic<bool>* cancelled = nullptr);
// The same file under other changes, in place of those that it has.
Result<OpenedWorkload> change_workload(const OpenedWorkload& opened, const std::vector<WorkloadChange>& changes,
                                       const std::atomic<bool>* cancelled = nullptr);

extern const Format workload_format;

}  // namespace hbmscope
