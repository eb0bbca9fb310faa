// One stream of a trace: its sealed blocks, what they define, and what one pass over all of them found: counts, the
// peak of every heap, failures, marks, and keyframes to begin at later. Events stay encoded, at about six bytes each.
//
// A stream only grows. What is handed out for a moment of it stays true.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/trace/definitions.h"
#include "analysis/trace/stream_state.h"
#include "collector/wire/block.h"
#include "collector/wire/block_decoder.h"

namespace hbmscope {

struct EventCounts {
  // What the source recorded: marks, counters and attributes are not in it, nor is state from before the stream.
  std::uint64_t total = 0;
  std::uint64_t alloc = 0, free = 0;  // Free: completed; unknown addresses too.
  std::uint64_t driver_refusals = 0, out_of_memory = 0, lost = 0;
  std::uint64_t unknown_records = 0;  // Of kinds that a newer version writes.
  std::uint64_t damaged_blocks = 0, missing_blocks = 0;

  EventCounts& operator+=(const EventCounts& more) {
    total += more.total;
    alloc += more.alloc;
    free += more.free;
    driver_refusals += more.driver_refusals;
    out_of_memory += more.out_of_memory;
    lost += more.lost;
    unknown_records += more.unknown_records;
    damaged_blocks += more.damaged_blocks;
    missing_blocks += more.missing_blocks;
    return *this;
  }
};

// The highest moments of a heap's bytes in use; the state from before the first event counts.
struct HeapPeak {
  std::uint64_t in_use_bytes = 0;
  std::uint64_t position = 0;  // After so many events.
  std::int64_t time_ns = 0;
};

// An out-of-memory, or a driver's refusal, as the source told it, and where in the stream it stands.
struct FailureEvent {
  std::uint64_t event = 0;
  std::int64_t time_ns = 0;
  std::uint64_t asked_bytes = 0;
  std::optional<std::uint64_t> available_bytes;  // On the device, if told.
  std::uint32_t heap = 0, stack = 0, reason = 0;
  bool is_out_of_memory = true;  // Else: the driver refused, and the framework may have tried again.
};

struct Mark {
  std::uint64_t event = 0;
  std::int64_t time_ns = 0;
  std::uint32_t name = 0, device = wire::no_device;
  std::uint8_t phase = 0;  // 0 instant, 1 begins, 2 ends.
};

class Stream {
 public:
  // Takes in the next block; a damaged one is refused with its fault, and the stream has a loss there.
  std::optional<std::string> append(wire::SharedBlock block);

  const Definitions& definitions() const { return definitions_; }
  const std::vector<wire::SharedBlock>& blocks() const { return blocks_; }
  const EventCounts& counts() const { return counts_; }
  const std::vector<FailureEvent>& failures() const { return failures_; }
  const std::vector<Mark>& marks() const { return marks_; }
  HeapPeak peak(std::uint32_t heap) const { return heap < peaks_.size() ? peaks_[heap] : HeapPeak{}; }

  std::uint64_t end_position() const { return last_.position(); }  // One more than the last event's number.
  bool has_times() const { return first_time_ns_ != last_time_ns_; }
  std::int64_t first_time_ns() const { return first_time_ns_; }
  std::int64_t last_time_ns() const { return last_time_ns_; }
  const StreamState& last_state() const { return last_; }
  std::uint64_t encoded_bytes() const;
  // All that is kept for it; live blocks of the last state apart.
  std::uint64_t memory_bytes() const;

  // The state after the first `position` events; past the end: the last one.
  StreamState state_at(std::uint64_t position) const;
  // Carries a state on to a later position; a new one begins before the first event.
  void advance(StreamState& state, std::uint64_t position) const;
  // The first position at which all events of that time and before are applied.
  std::uint64_t position_of_time(std::int64_t time_ns) const;

 private:
  void note(const wire::DecodedBlock& block);
  void keep_keyframe();

  std::vector<wire::SharedBlock> blocks_;
  Definitions definitions_;
  EventCounts counts_;
  std::vector<FailureEvent> failures_;
  std::vector<Mark> marks_;
  std::vector<HeapPeak> peaks_;
  StreamState last_;
  std::vector<std::shared_ptr<const Keyframe>> keyframes_;  // Ascending positions.
  std::uint64_t keyframe_events_ = wire::block_events_max;  // How far apart they are, as their size allows.
  bool has_events_ = false;
  std::int64_t first_time_ns_ = 0, last_time_ns_ = 0;
  std::uint32_t next_sequence_ = 0;
  wire::BlockDecoder decoder_;
  wire::DecodedBlock decoded_;
};

}  // namespace hbmscope
