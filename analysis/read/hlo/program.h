// A compiled program's memory, as XLA's buffer assignment has it. A logical buffer is a value of the program; each lies
// in an allocation, at an offset; allocations are arguments, outputs, constants, memory of one computation, or arenas
// of temporaries whose values lie over each other at different times. A color is a memory space.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hbmscope::hlo {

struct LogicalBuffer {
  std::uint64_t id = 0, size = 0, color = 0;
  std::string instruction, index;  // "fusion.3", "{1}"; the index is empty where the instruction has one value.
  std::string shape;               // As XLA writes it; empty: not told.
  std::string op_name, source_file;
  std::uint32_t source_line = 0;
  std::uint32_t source_frame = 0;  // The innermost one that made it, of Program::frames from 1; 0: not told.
  std::uint64_t position = 0;      // Of the instruction in the program's order.
  bool is_tuple = false;           // A table of pointers.
};

struct Assigned {
  std::uint64_t buffer = 0;  // Place in Program::buffers.
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
  std::uint64_t buffer = 0;     // Place in Program::buffers.
  std::uint64_t canonical = 0;  // Of share_with: the one that it shares with.
};
// How the compiler's own simulator went through an arena.
struct HeapTrace {
  std::uint64_t allocation = 0;  // Its index.
  std::vector<HeapEvent> events;
};

// A line of the program's source, and the one that called it.
struct SourceFrame {
  std::uint32_t file = 0, function = 0;  // Texts of SourceFrames from 1; 0: not told.
  std::uint32_t line = 0;
  std::uint32_t caller = 0;  // Of SourceFrames::frames from 1; 0: none.
};
struct SourceFrames {
  std::vector<std::string> files, functions;
  std::vector<SourceFrame> frames;
};

struct Program {
  std::string name;  // "jit_step"; empty: not told.
  std::vector<LogicalBuffer> buffers;
  std::vector<Allocation> allocations;
  std::vector<HeapTrace> traces;
  bool knows_kinds = true;                                      // What is an argument, an output, a temporary.
  std::map<std::uint64_t, std::uint64_t> reported_space_bytes;  // By color, where the dump tells a total.
  SourceFrames source;                                          // Of dumps since jax 0.5 or so.
  std::optional<std::uint64_t> code_bytes;                      // No dump tells it; the compiler does.
  std::uint64_t without_ranges = 0;                             // Values of arenas with times of which none is told.
  bool is_tpu = false;                                          // Its layouts have tiles.
  std::uint64_t unknown_buffers = 0;                            // Named, and defined nowhere: left out.
  std::uint64_t impossible = 0;                                 // leave_out_impossible.
};

// Sizes that no memory holds become 0, and what lies outside of its allocation is left out: both are counted, so that
// no later sum overflows.
void leave_out_impossible(Program& program);

// "hbm", "vmem", "sflag", "cmem", "host", "color_6" of a TPU's program; "device", "host", ... of another.
std::string space_name(const Program& program, std::uint64_t color);

}  // namespace hbmscope::hlo
