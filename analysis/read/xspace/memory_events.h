// The events of XLA's and TensorFlow's allocators in an XSpace: MemoryAllocation and MemoryDeallocation, each an
// instant on the line of the thread that called (xla/tsl/framework/bfc_allocator.cc, AddTraceMe, at 753e5e56), with the
// allocator's figures just after it. And the steps that the program marks (StepTraceAnnotation).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/read/read_control.h"
#include "analysis/read/xspace/xspace.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::xspace {

// Turns the names of the spans on a thread's line into stack frames. Python's functions are named
// "$train.py:12 main", without their folder; others are operations of XLA, JAX or TensorFlow.
class SpanFrames {
 public:
  explicit SpanFrames(wire::StreamWriter& writer) : writer_(writer) {}

  // A source file that is surely the user's, because a compiled program names it: "/home/me/train.py". A function in a
  // file of that name is then in this file.
  void add_source_file(std::string_view path);

  std::uint32_t define(std::string_view span);

 private:
  std::string file_of(std::string_view name) const;

  wire::StreamWriter& writer_;
  std::map<std::string, std::string, std::less<>> paths_;  // By file name; an empty path: there are several.
};

// "jit_step" of "CommonPjRtLoadedExecutable::Execute (jit_step)", or empty for other spans.
std::string_view executed_program(std::string_view span);

struct MemoryEvent {
  std::int64_t time_ns = 0;  // Since profiling began.
  std::uint64_t address = 0;
  std::uint64_t size = 0;  // The block's size, rounding included.
  std::uint64_t requested = wire::unknown_bytes;
  std::uint64_t in_use = wire::unknown_bytes;  // In the whole allocator, after the event.
  std::uint32_t allocator = 0;                 // Index in Events::allocators.
  std::uint32_t stack = 0;                     // A stack of the trace, or 0.
  std::uint32_t texts = 0;                     // Index in Events::texts.
  std::uint16_t limit = 0;                     // Index in Events::limits.
  bool is_free = false;
};
static_assert(sizeof(MemoryEvent) == 56, "a profile of a gigabyte has eight million");

// What an allocation says about itself in words: strings of the trace, or 0.
struct EventTexts {
  std::uint32_t op = 0, shape = 0, region = 0, program = 0;

  bool operator==(const EventTexts&) const = default;
};

// Grows without ever moving what it holds.
class MemoryEvents {
 public:
  void push_back(const MemoryEvent& event) {
    if (size_ % chunk_events == 0) {
      chunks_.emplace_back();
      chunks_.back().reserve(chunk_events);
    }
    chunks_.back().push_back(event);
    ++size_;
  }
  void shrink(std::size_t size) {
    size_ = size;
    chunks_.resize((size + chunk_events - 1) / chunk_events);
    if (size % chunk_events != 0) chunks_.back().resize(size % chunk_events);
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  MemoryEvent& operator[](std::size_t at) { return chunks_[at / chunk_events][at % chunk_events]; }
  const MemoryEvent& operator[](std::size_t at) const { return chunks_[at / chunk_events][at % chunk_events]; }

  // For passes in the order of time, which jump between the lines: most of their time is waiting for memory. Always
  // inlined, as in LiveTable.
  static constexpr std::size_t prefetched_ahead = 24;
  [[gnu::always_inline]] void prefetch(std::size_t at) const {
    const MemoryEvent& event = (*this)[at];
    __builtin_prefetch(&event);
    __builtin_prefetch(&event.is_free);  // May be in the next cache line.
  }

 private:
  static constexpr std::size_t chunk_events = 1 << 18;  // Large enough for large pages.
  std::vector<std::vector<MemoryEvent>> chunks_;
  std::size_t size_ = 0;
};

struct Allocator {
  std::string_view name;  // "GPU_0_bfc"
  std::size_t plane = 0;  // If one file has several processes, each has its own.
};

struct Step {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint32_t name = 0;  // String: "train 3".
};

struct Events {
  MemoryEvents memory;                                     // Line by line, each in the order of time. At most 2^32.
  std::vector<EventTexts> texts{{}};                       // The different ones.
  std::vector<std::uint64_t> limits{wire::unknown_bytes};  // The different limits of the allocators, in bytes.
  std::vector<Allocator> allocators;
  std::vector<Step> steps;
  std::uint64_t events = 0;           // Events of any kind, on the lines that were read.
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
