// The files that XLA writes for one module with --xla_dump_to are one program, not several that add up:
//
//   module_0042.jit_step.before_optimizations.txt
//   module_0042.jit_step.cpu_after_optimizations.txt, .hlo.pb, -buffer-assignment.txt, -live-range.txt,
//                                              -memory-usage-report.txt, -memory-usage-report.pb
//   module_0042.jit_step.serialized_buffer_assignment.pb, .thunk_sequence.txt, .ir-with-opt.ll, .ptx, ...
//
// The most complete one is opened. Names: xla/service/dump.cc of openxla/xla@753e5e5. Dumps that somebody kept under
// another name ("step.hlo.pb") are recognised by how it ends.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hbmscope {

// What a file of a dump has, the most complete first. From `nothing` on, files are not opened.
enum class DumpContent {
  module_with_assignment,  // .hlo.pb
  assignment_text,         // -buffer-assignment.txt
  assignment,              // .serialized_buffer_assignment.pb
  scheduled_text,          // after_optimizations.txt
  usage_report,            // -memory-usage-report.pb
  usage_report_text,
  live_ranges,
  unscheduled_text,  // before_optimizations.txt and the texts between two passes
  nothing,           // About memory.
};

struct DumpName {
  std::string module;  // "module_0042.jit_step". Empty if the name is only the kind of dump.
  DumpContent content = DumpContent::nothing;
};
// Nothing: this isn't the name of a dump. Compressed endings don't matter.
std::optional<DumpName> parse_dump_name(std::string_view name);

struct DumpedProgram {
  std::string file;  // The most complete one.
  std::vector<std::string>
      others;  // Other files of the same module. Those that have nothing about memory are only counted.
};
struct DumpFolder {
  std::vector<DumpedProgram> programs;
  std::vector<std::string> without_memory;  // Files of dumps.

  // "8 more dump files are of the same programs, and were not added up: a.txt, b.txt, c.txt and 5 more; 3 dump files
  // have nothing about memory". Empty: nothing was left out.
  std::string text() const;
};

// Groups files of one folder. Takes those that are dumps out of `files`.
DumpFolder take_dumps(std::vector<std::string>& files);

}  // namespace hbmscope
