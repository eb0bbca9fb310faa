// The memory of a compiled program, as its dump or its compiler reported it (counters of trace/reported_figures.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

struct ProgramMemoryRow {
  std::string name;  // The module's name. Empty if unknown.
  // Device memory. Absent if unknown.
  std::optional<std::uint64_t> argument_bytes, output_bytes, alias_bytes, temp_bytes;
  // If there is only the text of the HLO, without a buffer assignment: the most bytes of temporaries that are live at
  // once, by their shapes. The compiler's arena may be smaller, because it lets more values share memory, or larger,
  // because of gaps.
  std::optional<std::uint64_t> live_temp_bytes;
  bool is_scheduled = true;  // Otherwise the order of instructions is that of the text, and the real one is unknown.
  // The temporaries repacked by XLA's published algorithm, in the compiler's order of events.
  std::optional<std::uint64_t> replayed_temp_bytes;
  // Outputs as large as an argument that is kept, whose memory they could reuse if it were donated.
  std::optional<std::uint64_t> donatable_bytes;
  std::optional<std::uint64_t> code_bytes;  // In no dump; in recordings of `tpu compile`.
  struct Space {
    std::string name;
    std::uint64_t bytes = 0;
  };
  std::vector<Space> by_space;  // Everything, by memory space.

  // What a device needs to run it, apart from the code: argument + output - alias + temp. Absent if one of them is.
  std::optional<std::uint64_t> needed_without_code_bytes() const;
  // The same with live_temp_bytes if temp_bytes is absent, and with the sum of `by_space` if even that is: for ordering
  // programs by size.
  std::uint64_t roughly_needed_bytes() const;
  bool needs_more_than(const ProgramMemoryRow& other) const;  // By that.
};
struct NamedProgram {
  std::string file;  // Empty if its file has several programs.
  ProgramMemoryRow memory;
};

// The program of one stream, if it has one.
std::optional<ProgramMemoryRow> find_program(const Stream& stream);
// The programs of all streams; the one that needs the most first.
std::vector<ProgramMemoryRow> find_programs(const Trace& trace);
// The one that needs the most. Nothing if there is none.
std::optional<ProgramMemoryRow> find_program_memory(const Trace& trace);

// The program of a dump, such as each of those in a folder of --xla_dump_to. Nothing if the trace is something else,
// which may contain programs.
std::optional<ProgramMemoryRow> find_dumped_program(const Trace& trace);
struct SortedProgram {
  std::size_t index = 0;  // In the list that was sorted.
  ProgramMemoryRow memory;
};
// Programs of one folder, the one that needs the most memory first: they don't run at the same time. Empty if one of
// the traces is no such dump. A null trace is not, either.
std::vector<SortedProgram> sort_programs(std::span<const std::shared_ptr<const Trace>> traces);

}  // namespace hbmscope
