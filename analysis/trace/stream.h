// One stream of a trace: its sealed blocks, what they define, and what one pass over all of them found: counts, the
// peak of every heap, failures, marks, and keyframes to begin at later. Events stay encoded, at about six bytes each.
//
// A stream only grows. version() is what it holds now, for other threads: it shares all that is sealed, so that it
// costs as much after a day as after a minute, but for readings of clocks (one every ten seconds), which are copied.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/trace/attribute_table.h"
#include "analysis/trace/clock_table.h"
#include "analysis/trace/counter_table.h"
#include "analysis/trace/definitions.h"
#include "analysis/trace/record_cursor.h"
#include "analysis/trace/stream_state.h"
#include "analysis/trace/timeline.h"
#include "analysis/trace/use_curve.h"
#include "analysis/trace/use_state.h"
#include "collector/wire/block.h"
#include "collector/wire/block_decoder.h"

namespace hbmscope {

struct EventCounts {
  // What the source recorded: marks, counters and attributes are not in it, nor is state from before the stream.
  std::uint64_t total = 0;
  std::uint64_t alloc = 0, free = 0;  // Free: completed; unknown addresses too.
  std::uint64_t driver_refusals = 0, out_of_memory = 0, lost = 0;
  std::uint64_t skipped = 0;          // A viewer asked to go on behind them: they are in the recording at the observer.
  std::uint64_t unknown_records = 0;  // Of kinds that a newer version writes.
  std::uint64_t damaged_blocks = 0, missing_blocks = 0;

  EventCounts& operator+=(const EventCounts& more) {
    total += more.total;
    alloc += more.alloc;
    free += more.free;
    driver_refusals += more.driver_refusals;
    out_of_memory += more.out_of_memory;
    lost += more.lost;
    skipped += more.skipped;
    unknown_records += more.unknown_records;
    damaged_blocks += more.damaged_blocks;
    missing_blocks += more.missing_blocks;
    return *this;
  }
};

// The highest moment of a heap's bytes in use; the state from before the first event counts. What was counted between a
// loss of events and the next listing of the heap does not; only where none has come yet, and then it is said. Of a
// heap that contradicts itself (heap_flag) all counts, and the peak is inexact.
struct HeapPeak {
  std::uint64_t in_use_bytes = 0;
  std::uint64_t position = 0;  // After so many events.
  std::int64_t time_ns = 0;
  bool is_inexact = false;
};

// An out-of-memory, or a driver's refusal, as the source reported it, and where in the stream it stands.
struct FailureEvent {
  std::uint64_t event = 0;
  std::int64_t time_ns = 0;
  std::uint64_t asked_bytes = 0;
  std::optional<std::uint64_t> available_bytes;  // On the device, if reported.
  std::uint32_t heap = 0, stack = 0, reason = 0;
  bool is_out_of_memory = true;  // Else: the driver refused, and the framework may have tried again.
};

struct Mark {
  std::uint64_t event = 0;
  std::int64_t time_ns = 0;
  std::uint32_t name = 0, device = wire::no_device;
  std::uint8_t phase = 0;  // 0 instant, 1 begins, 2 ends.
};

// No events came in during this time, as the source reported when it went on. A heap's figures are as they were before
// it.
struct LossStretch {
  std::int64_t since_ns = 0, until_ns = 0;
  std::uint32_t heap = 0;  // 0: all.
  bool is_skipped = false;
};

class Stream {
 public:
  // Curves: of what comes only definitions, counts, and the peaks and curves of bytes in use are kept (use_state.h), at
  // a third of the price. Nothing else may be asked then, no state either.
  enum class Keeps : std::uint8_t { everything, curves };
  explicit Stream(Keeps keeps = Keeps::everything) : growth_(std::make_unique<Growth>()) { growth_->keeps = keeps; }
  // One that keeps curves has met what it can't know the curve of; all that is in it is worthless.
  bool needs_everything() const { return growth_ != nullptr && growth_->needs_everything; }

  // What lies between two blocks: events that are lost, or that somebody wished to skip (collector/link/link.h).
  enum class Gap { lost, skipped };
  // Takes in the next block; a damaged one is refused with its fault, and the stream has a loss there. One of a
  // keyframe has the state behind a gap, and changes nothing where there is none.
  std::optional<std::string> append(wire::SharedBlock block, Gap gap = Gap::lost);
  // Keyframes lie farther apart from now on, so that they take a thirtieth of the memory; what is between them takes
  // longer to be found.
  void spare_memory();
  // Nothing more comes, though the source wrote so much: what is missing at the end is lost like any other part.
  void note_written(std::uint64_t end_event, std::uint64_t blocks);
  // For readers on other threads, while this one goes on. Nothing is appended to it.
  Stream version() const;

  const Definitions& definitions() const { return has_.definitions; }
  const SharedLog<wire::SharedBlock>& blocks() const { return has_.blocks; }
  const EventCounts& counts() const { return has_.counts; }
  const SharedLog<FailureEvent>& failures() const { return has_.failures; }
  const SharedLog<Mark>& marks() const { return has_.marks; }
  const SharedLog<LossStretch>& losses() const { return has_.losses; }
  HeapPeak peak(std::uint32_t heap) const;
  const CounterTable& counters() const { return has_.counters; }
  const AttributeTable& attributes() const { return has_.attributes; }
  const ClockTable& clocks() const { return growth_ != nullptr ? growth_->clocks : has_.clocks; }
  // By number of a kind: records that this version of the model does not hold, whether the wire knows them or not.
  const std::map<std::uint8_t, std::uint64_t>& passed_over() const { return has_.passed_over; }

  const Timeline& timeline(std::uint32_t heap) const;
  const UseCurve& curve(std::uint32_t heap) const;  // Where curves alone are kept.

  std::uint64_t end_position() const { return has_.end_position; }  // One more than the last event's number.
  // Behind the last block; they are in the counts, and end_position() lies behind them.
  std::uint64_t events_lost_at_end() const { return has_.events_lost_at_end; }
  std::uint64_t blocks_lost_at_end() const { return has_.blocks_lost_at_end; }
  // A source without times gives all its events the time 0.
  bool has_times() const { return has_.has_times; }
  std::int64_t first_time_ns() const { return has_.first_time_ns; }
  std::int64_t last_time_ns() const { return has_.last_time_ns; }
  // After all events. Not of a version: there, state_at() computes it.
  const StreamState& last_state() const { return growth_->last; }
  std::uint64_t encoded_bytes() const;
  // All that is kept for it; live blocks of the last state apart.
  std::uint64_t memory_bytes() const;
  // Of it what grows with every event, without a walk over it. Not of a version.
  std::uint64_t event_memory_bytes() const { return growth_->block_bytes + growth_->keyframe_bytes; }

  // The state after the first `position` events; past the end: the last one.
  StreamState state_at(std::uint64_t position) const;
  // Carries a state on to a later position; a new one begins before the first event.
  void advance(StreamState& state, std::uint64_t position) const;
  // The first position at which all events of that time and before are applied.
  std::uint64_t position_of_time(std::int64_t time_ns) const;

 private:
  // A block, which is decoded as a whole, wherever in it a moment lies.
  static constexpr std::uint64_t keyframe_events_min = wire::block_events_max;

  struct InexactPeak {
    HeapPeak peak;
    std::int64_t since_ns = 0;  // Of which stretch without a listing.
  };
  // Shares what is sealed with its copies.
  struct Contents {
    SharedLog<wire::SharedBlock> blocks;
    SharedLog<std::uint8_t> plain_blocks;  // By block: 1 where NetChanges may take it in.
    Definitions definitions;
    EventCounts counts;
    SharedLog<FailureEvent> failures;
    SharedLog<Mark> marks;
    SharedLog<LossStretch> losses;
    CounterTable counters;
    AttributeTable attributes;
    ClockTable clocks;  // Of a version.
    std::map<std::uint8_t, std::uint64_t> passed_over;
    std::vector<HeapPeak> peaks;                           // By heap, as the next two.
    std::vector<InexactPeak> inexact_peaks;                // Above those, and not to be relied on.
    std::vector<Timeline> timelines;                       // By heap.
    std::vector<UseCurve> curves;                          // By heap, where only these are kept.
    SharedLog<std::shared_ptr<const Keyframe>> keyframes;  // Ascending positions.
    std::uint64_t end_position = 0;
    std::uint64_t events_lost_at_end = 0, blocks_lost_at_end = 0;
    std::uint64_t keyframe_blocks = 0;  // Of `blocks`, those of the source's keyframes.
    bool has_events = false, has_times = false;
    std::int64_t first_time_ns = 0, last_time_ns = 0;
  };
  // What only the one that grows has.
  struct Growth {
    Keeps keeps = Keeps::everything;
    bool needs_everything = false;
    UseState use;  // Where curves are kept; `last` is empty then.
    StreamState last;
    ClockTable clocks;
    std::uint64_t block_bytes = 0, keyframe_bytes = 0;  // In memory.
    bool is_sparing = false;
    std::uint64_t keyframe_events = keyframe_events_min;  // How far apart they are, as their size allows.
    std::uint32_t next_sequence = 0;
    wire::BlockDecoder decoder;
    wire::DecodedBlock decoded;
    wire::BlockEncoder keyframe_encoder{0, wire::BlockType::keyframe};
  };
  explicit Stream(Contents contents) : has_(std::move(contents)) {}

  using RecordCounts = std::array<std::uint64_t, 256>;  // By kind.
  RecordCounts note(const wire::DecodedBlock& block);
  void note_times(const wire::DecodedBlock& block);
  void note_records(const wire::DecodedBlock& block);
  template <class Record>
  void note_failure(const RecordPlace& place, const Record& record, std::uint32_t reason, bool is_out_of_memory);
  void append_to_curves(const wire::DecodedBlock& block);
  void note_gap(const wire::BlockHeader& header, Gap gap);
  void note_peak(std::uint32_t heap, std::uint64_t position, std::int64_t time_ns);
  bool contradicts_itself(std::uint32_t heap) const;
  bool keeps_inexact_peak(std::uint32_t heap) const;
  std::uint64_t next_keyframe_position() const;
  void keep_keyframe();
  std::uint64_t events_between(const Keyframe& keyframe) const;  // It and the next one; its bytes are counted by now.
  // Those behind the keyframe, and the one in which it lies, that are plain, without a gap, up to the one with the
  // event `position`.
  std::vector<wire::SharedBlock> plain_blocks_after(const Keyframe& keyframe, std::uint64_t position) const;

  Contents has_;
  std::unique_ptr<Growth> growth_;  // Null in versions.
};

}  // namespace hbmscope
