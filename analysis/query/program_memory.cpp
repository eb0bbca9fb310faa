#include "analysis/query/program_memory.h"

#include <algorithm>
#include <utility>

#include "analysis/query/heap_rows.h"
#include "analysis/trace/reported_figures.h"

namespace hbmscope {

std::optional<std::uint64_t> ProgramMemoryRow::needed_without_code_bytes() const {
  if (!argument_bytes || !output_bytes || !alias_bytes || !temp_bytes) return std::nullopt;
  const std::uint64_t all = *argument_bytes + *output_bytes + *temp_bytes;
  return all < *alias_bytes ? std::nullopt : std::optional(all - *alias_bytes);
}

std::uint64_t ProgramMemoryRow::roughly_needed_bytes() const {
  ProgramMemoryRow row = *this;
  if (!row.temp_bytes) row.temp_bytes = live_temp_bytes;
  if (const auto needed = row.needed_without_code_bytes()) return *needed;
  std::uint64_t bytes = 0;
  for (const Space& space : by_space) bytes += space.bytes;
  return bytes;
}

bool ProgramMemoryRow::needs_more_than(const ProgramMemoryRow& other) const {
  return roughly_needed_bytes() > other.roughly_needed_bytes();
}

std::optional<ProgramMemoryRow> find_program(const Stream& stream) {
  const auto reported = [&](std::string_view name, std::uint32_t heap) {
    return find_reported(stream, name, heap, stream.end_position());
  };
  ProgramMemoryRow row;
  row.argument_bytes = reported(reported_figure::program_argument, 0);
  row.output_bytes = reported(reported_figure::program_output, 0);
  row.alias_bytes = reported(reported_figure::program_alias, 0);
  row.temp_bytes = reported(reported_figure::program_temp, 0);
  row.live_temp_bytes = reported(reported_figure::program_live_temp, 0);
  row.is_scheduled = stream.definitions().job_fact("hlo_schedule") != "none";
  row.replayed_temp_bytes = reported(reported_figure::program_replayed_temp, 0);
  row.donatable_bytes = reported(reported_figure::program_donatable, 0);
  row.code_bytes = reported(reported_figure::program_code, 0);
  row.name = stream.definitions().job_fact("hlo_module");
  for (const HeapInfo& heap : stream.definitions().heaps())
    if (heap.id != 0)
      if (const auto bytes = reported(reported_figure::program_space, heap.id))
        row.by_space.push_back({heap.memory_kind, *bytes});
  return row.argument_bytes || !row.by_space.empty() ? std::optional(std::move(row)) : std::nullopt;
}

std::vector<ProgramMemoryRow> find_programs(const Trace& trace) {
  std::vector<ProgramMemoryRow> programs;
  for (const Stream& stream : trace.streams)
    if (auto program = find_program(stream)) programs.push_back(std::move(*program));
  std::stable_sort(programs.begin(), programs.end(),
                   [](const ProgramMemoryRow& a, const ProgramMemoryRow& b) { return a.needs_more_than(b); });
  return programs;
}

std::optional<ProgramMemoryRow> find_program_memory(const Trace& trace) {
  std::vector<ProgramMemoryRow> programs = find_programs(trace);
  return programs.empty() ? std::nullopt : std::optional(std::move(programs.front()));
}

std::optional<ProgramMemoryRow> find_dumped_program(const Trace& trace) {
  return trace.origin == TraceOrigin::program ? find_program_memory(trace) : std::nullopt;
}

std::vector<SortedProgram> sort_programs(std::span<const std::shared_ptr<const Trace>> traces) {
  std::vector<SortedProgram> programs;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    auto memory = traces[i] == nullptr ? std::nullopt : find_dumped_program(*traces[i]);
    if (!memory) return {};
    programs.push_back({i, std::move(*memory)});
  }
  std::stable_sort(programs.begin(), programs.end(),
                   [](const SortedProgram& a, const SortedProgram& b) { return a.memory.needs_more_than(b.memory); });
  return programs;
}

}  // namespace hbmscope
