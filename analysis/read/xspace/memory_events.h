// The events of XLA's and TensorFlow's allocators in an XSpace: MemoryAllocation and MemoryDeallocation, each an
// instant on the line of the thread that called (xla/tsl/framework/bfc_allocator.cc, AddTraceMe, at 753e5e56), with the
// allocator's figures just after it. And the steps that the program marks (StepTraceAnnotation).
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "analysis/read/read_control.h"
#include "analysis/read/xspace/span_frames.h"
#include "analysis/read/xspace/xspace.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::xspace {

struct MemoryEvent {
  std::int64_t time_ns = 0;  // Since profiling began.
  std::uint64_t address = 0;
  std::uint64_t size = 0;  // Of the block, rounding included.
  std::uint64_t requested = wire::unknown_bytes;
  std::uint64_t in_use = wire::unknown_bytes;                           // In the whole allocator, after the event.
  std::uint32_t allocator = 0;                                          // Index in Events::allocators.
  std::uint32_t limit = 0;                                              // Index in Events::limits.
  std::uint32_t stack = 0, op = 0, shape = 0, region = 0, program = 0;  // Stack and strings of the trace; 0: none.
  bool is_free = false;
};

struct Allocator {
  std::string_view name;  // "GPU_0_bfc"
  std::size_t plane = 0;  // Of several processes in one file, each has its own.
};

struct Step {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint32_t name = 0;  // String: "train 3".
};

struct Events {
  std::deque<MemoryEvent> memory;                          // Line by line, each in the order of time. At most 2^32.
  std::vector<std::uint64_t> limits{wire::unknown_bytes};  // The different limits of the allocators, in bytes.
  std::vector<Allocator> allocators;
  std::vector<Step> steps;
  std::uint64_t events = 0;           // Of any kind, on the lines that were read.
  std::uint64_t threads = 0;          // Lines that have memory events.
  std::uint64_t without_address = 0;  // Left out, like the next two.
  std::uint64_t impossible = 0;       // Sizes or times that can't be.
  std::uint64_t damaged = 0;          // Messages that can't be decoded.
};

// Reads the lines of all planes on which an allocator may have written, and defines the stacks and texts of the events.
// False if cancelled.
bool read_events(const Space& space, SpanFrames& frames, wire::StreamWriter& writer, ReadControl* control,
                 Events& events);

}  // namespace hbmscope::xspace
