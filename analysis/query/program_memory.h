// What a compiled program takes, as its dump or its compiler told (counters of trace/reported_figures.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

struct ProgramMemoryRow {
  std::string name;  // Of the module; empty: not told.
  // Of device memory. Absent: not told.
  std::optional<std::uint64_t> argument_bytes, output_bytes, alias_bytes, temp_bytes;
  // The temporaries packed anew by XLA's published algorithm, from the compiler's order of events.
  std::optional<std::uint64_t> replayed_temp_bytes;
  // Of outputs that are as large as an argument that is kept, and could take its place if it were donated.
  std::optional<std::uint64_t> donatable_bytes;
  std::optional<std::uint64_t> code_bytes;  // No dump tells it; a recording of what `tpu compile` made does.
  struct Space {
    std::string name;
    std::uint64_t bytes = 0;
  };
  std::vector<Space> by_space;  // All of it, by memory space.

  // What a device needs to run it, beside the code: argument + output - alias + temp.
  // Absent where one of them is.
  std::optional<std::uint64_t> needed_without_code_bytes() const;
};
// Of the first stream that tells of a program. Nothing: none does.
std::optional<ProgramMemoryRow> find_program_memory(const Trace& trace);

}  // namespace hbmscope
