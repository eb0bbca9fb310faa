#include "analysis/read/hlo/read_hlo.h"

#include <vector>

#include "analysis/read/hlo/hlo_text.h"
#include "analysis/read/hlo/live_ranges.h"
#include "analysis/read/hlo/live_values.h"
#include "analysis/read/hlo/read_buffer_assignment.h"
#include "analysis/read/hlo/read_hlo_proto.h"
#include "analysis/read/hlo/read_memory_usage_report.h"
#include "analysis/read/hlo/trace_from_live_values.h"
#include "analysis/read/hlo/trace_from_program.h"

namespace hbmscope {
namespace {

Result<Trace> read_text(std::span<const std::uint8_t> bytes, const std::string& name, ReadControl* control) {
  const auto module = hlo::read_hlo_text(bytes, name);
  if (!module) return Failure(module.error());
  if (control != nullptr) control->done_bytes = bytes.size();
  return hlo::trace_from_live_values(*module, hlo::compute_live_values(*module), name, bytes.size());
}

}  // namespace

bool looks_like_hlo(std::span<const std::uint8_t> bytes) {
  return hlo::looks_like_buffer_assignment(bytes) || hlo::looks_like_memory_usage_report(bytes) ||
         hlo::looks_like_hlo_text(bytes) || hlo::looks_like_hlo_proto(bytes);
}

bool looks_like_live_ranges(std::span<const std::uint8_t> bytes) {
  return hlo::looks_like_live_ranges(bytes);
}

Result<Trace> read_live_ranges_alone(std::span<const std::uint8_t> bytes, const std::string& name,
                                     ReadControl* control) {
  const auto ranges = hlo::read_live_ranges(bytes, name);
  if (!ranges) return Failure(ranges.error());
  const auto peak = hlo::read_live_peak(bytes);
  if (!peak)
    return Failure(
        refusal("this text has the live ranges of values, but not their sizes and addresses",
                "Put the -buffer-assignment.txt of the same module in the same folder, or open the HloProto.", name));
  if (control != nullptr) control->done_bytes = bytes.size();
  return hlo::trace_from_live_ranges(*ranges, *peak, name, bytes.size());
}

Result<Trace> read_hlo(std::span<const std::uint8_t> bytes, const std::string& name, ReadControl* control,
                       const HloExtras& beside) {
  if (control != nullptr) control->total_bytes = bytes.size();
  if (!looks_like_hlo(bytes))
    return Failure(Error{"this is not a dump of an XLA program",
                         "XLA writes one with --xla_dump_to and --xla_dump_hlo_as_proto.", name, 0, false});
  if (hlo::looks_like_hlo_text(bytes)) return read_text(bytes, name, control);
  auto program = hlo::looks_like_buffer_assignment(bytes)     ? hlo::read_buffer_assignment(bytes, name)
                 : hlo::looks_like_memory_usage_report(bytes) ? hlo::read_memory_usage_report(bytes, name)
                                                              : hlo::read_hlo_proto(bytes, name);
  if (!program) return Failure(program.error());
  program->code_bytes = beside.code_bytes;
  std::erase_if(program->traces, [](const hlo::HeapTrace& trace) { return trace.events.empty(); });
  if (program->traces.empty() && !beside.live_ranges.empty())
    if (const auto ranges = hlo::read_live_ranges(beside.live_ranges, name))
      program->without_ranges = hlo::add_heap_traces(*program, *ranges);
  if (control != nullptr) control->done_bytes = bytes.size();
  return hlo::trace_from_program(*program, name, bytes.size());
}

}  // namespace hbmscope
