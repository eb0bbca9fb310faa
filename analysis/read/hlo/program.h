// The memory of a compiled program according to XLA's buffer assignment. A logical buffer is a value of the program,
// and lies in an allocation at an offset. Allocations are arguments, outputs, constants, memory of one computation, or
// arenas of temporaries whose values overlap at different times. A color is a memory space.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hbmscope::hlo {

struct LogicalBuffer {
  std::uint64_t id = 0, size = 0, color = 0;
  std::string instruction, index;  // "fusion.3", "{1}"; the index is empty if the instruction has one value.
  std::string shape;               // As XLA writes it, if it is known.
  std::string op_name, source_file;
  std::uint32_t source_line = 0;
  std::uint32_t source_frame = 0;  // Innermost, in SourceFrames::frames from 1, or 0 if it is unknown.
  std::uint64_t position = 0;      // The instruction's position in the program's order.
  bool is_tuple = false;           // A table of pointers.
};

struct Assigned {
  std::uint64_t buffer = 0;  // Index in Program::buffers.
  std::uint64_t offset = 0, size = 0;
};

struct Allocation {
  std::uint64_t index = 0, size = 0, color = 0;
  std::optional<std::uint64_t> parameter;
  bool is_parameter = false, is_constant = false, is_thread_local = false, maybe_live_out = false;
  std::vector<Assigned> assigned;

  bool is_temporary() const { return !is_parameter && !is_constant && !is_thread_local && !maybe_live_out; }
};

enum class HeapEventKind : std::uint8_t { alloc, free, share_with };
struct HeapEvent {
  HeapEventKind kind = HeapEventKind::alloc;
  std::uint64_t buffer = 0;     // Index in Program::buffers.
  std::uint64_t canonical = 0;  // For share_with: the buffer whose memory it shares.
};
// The sequence of events in the compiler's own simulation of an arena.
struct HeapTrace {
  std::uint64_t allocation = 0;  // Its index.
  std::vector<HeapEvent> events;
};

// A line of the program's source, and the one that called it.
struct SourceFrame {
  std::uint32_t file = 0, function = 0;  // Indices in SourceFrames from 1, or 0 if unknown.
  std::uint32_t line = 0;
  std::uint32_t caller = 0;  // Index in SourceFrames::frames from 1, or 0.
};
struct SourceFrames {
  std::vector<std::string> files, functions;
  std::vector<SourceFrame> frames;
};

struct Program {
  std::string name;  // "jit_step", if it is known.
  std::vector<LogicalBuffer> buffers;
  std::vector<Allocation> allocations;
  std::vector<HeapTrace> traces;
  bool knows_kinds = true;  // Whether arguments, outputs and temporaries are distinguished.
  std::map<std::uint64_t, std::uint64_t> reported_space_bytes;  // By color, if the dump has totals.
  SourceFrames source;                                          // In dumps since about jax 0.5.
  std::optional<std::uint64_t> code_bytes;                      // Never in dumps; from the compiler.
  std::uint64_t without_ranges = 0;                             // Values without a range, in arenas that have ranges.
  bool is_tpu = false;                                          // Its layouts have tiles.
  std::uint64_t unknown_buffers = 0;                            // Referenced but undefined: left out.
  std::uint64_t impossible = 0;                                 // Counted by leave_out_impossible.
};

// Sets sizes that no memory has to 0, and drops values outside of their allocation. Both are counted; later sums can't
// overflow.
void leave_out_impossible(Program& program);

// XLA on TPUs makes memory for what a loop stacks (the residuals of a scan) in an instruction that no line has made, and
// the loop fills it there by dynamic-update-slice: it gets that one's source.
void lend_sources(Program& program);

// "hbm", "vmem", "sflag", "cmem", "host", "color_6" for a TPU program; "device", "host", ... for others.
std::string space_name(bool is_tpu, std::uint64_t color);

}  // namespace hbmscope::hlo
