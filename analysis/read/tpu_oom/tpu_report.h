// One failure as the TPU compiler or runtime prints it. The forms, by their beginnings:
//
//   compile     Ran out of memory in memory space hbm. Used 68.98M of 64.00M hbm. Exceeded hbm capacity by 4.98M.
//               then "Total hbm usage >= 281.20M:", "Program hbm requirement 7.93M:" and the largest allocations
//   required    Ran out of memory on HBM, the total memory required for HLO temporaries (400.35G) exceeds available
//               HBM (15.75G). HLO module: jit_step.
//   scoped      Ran out of memory in memory space vmem while allocating on stack for %kernel = ... Scoped allocation
//               with size 64.00M and limit 16.00M exceeded scoped vmem limit by 48.00M.
//   allocation  Allocation (size=400000) would exceed memory (size=2048) :: #allocation3 [shape = 's32[100000]{0}',
//               space=sflag, size = 0x61a80, scoped, tag = 'scratch operand'] :: kernel.1
//   cores       TPU TensorCore Hbm usage: 34.82G, SparseCore Hbm usage 174.10G, exceeding available bytes: 95.74G
//   early       Aborting compilation early because it's unlikely to have enough memory. Requires 3.84T, has 90.96G
//               available.
//   buffer      Error allocating device buffer: Attempting to allocate 8.00M. That was not possible. There are 6.43M
//               free. Due to fragmentation, the largest contiguous region of free memory is 16.0K.; (0x0x1_HBM0)
//   program     Error loading program 'jit_x': Attempting to reserve 13.50G at the bottom of memory. That was not
//               possible. There are 7.48G free, 0B reserved, and 7.48G reservable.
//   sparse      'memref.alloca' op current allocation offset upper bound (140704 words) exceeds the legitimate user
//               allocatable offset upper bound (131071 words) in memory space 201 when allocating 23440 words
//   statistics  Num Allocs: 44, In Use: 2.648 GiB, ..., Limit: 31.246 GiB: a device's own statistics; not a failure
//
// Sources: openxla.org/xla/errors, and what libtpu 0.0.51 and older ones printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/read/word_cursor.h"

namespace hbmscope::tpu_oom {

enum class Form : std::uint8_t {
  compile,
  required,
  scoped,
  allocation,
  cores,
  early,
  buffer,
  program,
  sparse,
  statistics,
};

// The program was never loaded.
constexpr bool is_of_compiler(Form form) {
  return form != Form::buffer && form != Form::program && form != Form::statistics;
}

struct Part {
  std::string name;  // "HLO temp", "reserved", "arguments"
  MaybeBytes size;   // Nothing: "unknown size".
};

struct Allocation {
  MaybeBytes size, unpadded;
  std::string op_name, source_file, shape, label, tag, type;
  std::uint32_t source_line = 0;
  bool is_whole = false;  // Not cut off.
};

struct Report {
  Form form = Form::compile;
  std::string memory_space;  // In lower case: "hbm", "vmem", "smem", "sflag", "cmem".
  std::string program;       // Empty: unknown.
  std::string headline;      // On one line.
  MaybeBytes requested, used, free, largest_free, limit, reserved;
  MaybeBytes exceeded;
  // For the form `compile`.
  MaybeBytes total_usage, requirement, output, output_shared;
  MaybeBytes fragmentation;  // Between the temporaries, which the compiler places at fixed offsets.
  MaybeBytes unpadded, padded;  // All temporaries, without and with what tiles are filled up with.
  std::vector<Part> total_parts, program_parts;
  std::vector<Allocation> program_allocations, arguments_and_outputs;
  std::size_t begin = 0, end = 0;  // Bytes of the text: from the headline to the end of its figures.
};

// Figures that contradict each other beyond rounding, and parts that are missing because the text is cut off: one
// sentence each.
struct Check {
  std::vector<std::string> differences, cuts;
  std::size_t identities = 0;  // The number of comparisons.
};
Check check_report(const Report& report);

// In text order, with tables. At most `most`.
std::vector<Report> find_reports(std::string_view text, std::size_t most);
// True if the text has words with which a report begins.
bool may_have_report(std::string_view text);

// Reads the tables between report.end and `end`, where the next report begins.
void read_tables(std::string_view text, std::size_t end, Report& report);

}  // namespace hbmscope::tpu_oom
