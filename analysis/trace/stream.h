// One stream of a trace: its sealed blocks, their definitions, and the results of one pass over them: counts, the peak
// of every heap, failures, marks, and keyframes from which to replay. Events stay encoded, at about six bytes each.
//
// A stream only grows. version() returns its current contents for other threads. It shares everything sealed, so it
// costs the same after a day as after a minute, except for clock readings (one every ten seconds), which are copied.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/model/address_range.h"
#include "analysis/model/shared_log.h"
#include "analysis/trace/clock_table.h"
#include "analysis/trace/counter_table.h"
#include "analysis/trace/definitions.h"
#include "analysis/trace/record_cursor.h"
#include "analysis/trace/stream_state.h"
#include "analysis/trace/timeline.h"
#include "analysis/trace/use_at_marks.h"
#include "analysis/trace/use_curve.h"
#include "analysis/trace/use_state.h"
#include "collector/wire/block.h"
#include "collector/wire/block_decoder.h"

namespace hbmscope {

// Facts about allocations that became known after the allocation (attribute records): a tag, a parameter's path, a
// shape, the executable that owns it. The key is the allocation's id, which is never reused, unlike its address.
struct Attribute {
  std::uint64_t allocation = 0;      // Its id.
  std::uint64_t event = 0;           // The number of the event that reported it.
  std::uint32_t key = 0, value = 0;  // Strings.
  std::uint32_t stack = 0;           // The allocation's, like its size. It is 0 if unknown or not written here.
  std::uint64_t size = 0;

  friend bool operator==(const Attribute&, const Attribute&) = default;
};

// A copy shares the existing rows and does not see later ones.
class AttributeTable {
 public:
  void add(const Attribute& attribute) { rows_.push_back(attribute); }  // Events must ascend.

  // All attributes of an allocation, in event order; if two have the same key, the later one is valid. Scans all
  // attributes added since the allocation: five milliseconds for a million.
  std::vector<Attribute> find(std::uint64_t allocation) const;
  const SharedLog<Attribute>& rows() const { return rows_; }
  std::uint64_t size() const { return rows_.size(); }
  std::uint64_t memory_bytes() const { return rows_.capacity() * sizeof(Attribute); }

 private:
  SharedLog<Attribute> rows_;
};

struct EventCounts {
  // What the source recorded, without marks, counters, attributes and state from before the stream.
  std::uint64_t total = 0;
  std::uint64_t alloc = 0, free = 0;  // Free: completed; includes frees of unknown addresses.
  std::uint64_t driver_refusals = 0, out_of_memory = 0, lost = 0;
  std::uint64_t failed_requests = 0;  // The out-of-memories, and refusals that nothing answered to the end.
  std::uint64_t skipped = 0;          // A viewer chose to skip them; the observer's recording has them.
  std::uint64_t unknown_records = 0;  // Kinds from newer versions.
  std::uint64_t damaged_blocks = 0, missing_blocks = 0;

  EventCounts& operator+=(const EventCounts& more) {
    total += more.total;
    alloc += more.alloc;
    free += more.free;
    driver_refusals += more.driver_refusals;
    out_of_memory += more.out_of_memory;
    lost += more.lost;
    failed_requests += more.failed_requests;
    skipped += more.skipped;
    unknown_records += more.unknown_records;
    damaged_blocks += more.damaged_blocks;
    missing_blocks += more.missing_blocks;
    return *this;
  }
};

// The maximum of a heap's bytes in use, including the state before the first event. Figures between a loss of events
// and the next listing of the heap are ignored; if there was no listing yet they are used, and marked as inexact. For a
// heap that contradicts itself (heap_flag) all figures are used, and the peak is inexact. If blocks may be larger than
// reported (heap_flag::peak_is_minimum), the peak is inexact too.
struct HeapPeak {
  std::uint64_t in_use_bytes = 0;
  std::uint64_t position = 0;  // After that many events.
  std::int64_t time_ns = 0;
  bool is_inexact = false;
  bool is_minimum = false;  // Inexact, and not lower than this, because blocks may be larger than reported.
};

// An out-of-memory or a driver's refusal, as the source reported it, with its place in the stream.
struct FailureEvent {
  std::uint64_t event = 0;
  std::int64_t time_ns = 0;
  std::uint64_t requested_bytes = 0;
  std::optional<std::uint64_t> available_bytes;  // On the device, if reported.
  std::uint32_t heap = 0, stack = 0, reason = 0;
  // A framework gave up, or the job ended before anything answered the driver's refusal. Else: the driver refused, and
  // the framework may have retried.
  bool is_out_of_memory = true;
  bool is_refusal = false;  // By the driver; `reason` is then the call.
};

// A range of addresses that was a region of a heap at some time.
struct RegionRange {
  std::uint32_t heap = 0;
  AddressRange range;
  bool joins_neighbours = false;
  // Not <=>, which Emscripten's tuples lack.
  friend bool operator<(const RegionRange& a, const RegionRange& b) {
    return std::tuple(a.heap, a.range.begin, a.range.end) < std::tuple(b.heap, b.range.begin, b.range.end);
  }
};

struct Mark {
  std::uint64_t event = 0;
  std::int64_t time_ns = 0;
  std::uint32_t name = 0, device = wire::no_device;
  std::uint8_t phase = 0;   // 0 instant, 1 begin, 2 end.
  std::uint32_t stack = 0;  // 0: unknown.
};

// A period without events, as the source reported when it resumed. A heap's figures stay as they were before it.
struct LossStretch {
  std::int64_t since_ns = 0, until_ns = 0;
  std::uint32_t heap = 0;  // 0: all.
  bool is_skipped = false;
};

class Stream {
 public:
  // Curves: of new blocks, keep only definitions, counts, and the peaks and curves of bytes in use (use_state.h), at a
  // third of the cost. All other queries, including states, are then unavailable.
  enum class Keeps : std::uint8_t { everything, curves };
  explicit Stream(Keeps keeps = Keeps::everything) : growth_(std::make_unique<Growth>()) { growth_->keeps = keeps; }
  // A stream that keeps curves met something that it can't compute a curve from; discard its contents.
  bool needs_everything() const { return growth_ != nullptr && growth_->needs_everything; }

  // What lies between two blocks: lost events, or events skipped on request (collector/link/link.h).
  enum class Gap { lost, skipped };
  // Appends the next block. A damaged one is refused with its fault and becomes a loss in the stream. A block of a
  // keyframe supplies the state after a gap, and changes nothing if there is no gap.
  std::optional<std::string> append(wire::SharedBlock block, Gap gap = Gap::lost);
  // Places keyframes farther apart from now on, so that they take 30x less memory; seeking between them takes longer.
  void spare_memory();
  // The stream is complete, and the source wrote this much: whatever is missing at the end counts as lost.
  void note_written(std::uint64_t end_event, std::uint64_t blocks);
  // The job has ended: what the driver refused is out of memory if the job allocated nothing afterwards and no event is
  // missing (trace/unanswered_refusals.h).
  void end_refusals();
  // For readers on other threads while this one continues. Nothing can be appended to it. A version has versions, too.
  Stream version() const;

  const Definitions& definitions() const { return has_.definitions; }
  const SharedLog<wire::SharedBlock>& blocks() const { return has_.blocks; }
  const EventCounts& counts() const { return has_.counts; }
  const SharedLog<FailureEvent>& failures() const { return has_.failures; }
  const SharedLog<Mark>& marks() const { return has_.marks; }
  // Bytes in use when the marker with this event came. Costs no replay, so every step of a long job has its figure.
  std::uint64_t in_use_at_mark(std::uint32_t heap, std::uint64_t event) const {
    return has_.use_at_marks.find(heap, event);
  }
  const SharedLog<LossStretch>& losses() const { return has_.losses; }
  const SharedLog<RegionRange>& regions_ever() const { return has_.regions_ever; }  // Each once; the first 65,536.
  HeapPeak peak(std::uint32_t heap) const;
  const CounterTable& counters() const { return has_.counters; }
  const AttributeTable& attributes() const { return has_.attributes; }
  const ClockTable& clocks() const { return growth_ != nullptr ? growth_->clocks : has_.clocks; }
  // By kind number: records that this version of the model does not keep, whether or not the wire format knows them.
  const std::map<std::uint8_t, std::uint64_t>& passed_over() const { return has_.passed_over; }

  const Timeline& timeline(std::uint32_t heap) const;
  const UseCurve& curve(std::uint32_t heap) const;  // Only with Keeps::curves.

  std::uint64_t end_position() const { return has_.end_position; }  // One more than the last event's number.
  // After the last block. Included in the counts, and end_position() lies after them.
  std::uint64_t events_lost_at_end() const { return has_.events_lost_at_end; }
  std::uint64_t blocks_lost_at_end() const { return has_.blocks_lost_at_end; }
  // A source without times gives all its events time 0.
  bool has_times() const { return has_.has_times; }
  std::int64_t first_time_ns() const { return has_.first_time_ns; }
  std::int64_t last_time_ns() const { return has_.last_time_ns; }
  // Where the times that people read begin, on this stream's clock: at the first event of all streams whose clocks are
  // related, so that 12.5 s is one instant on all ranks (common_zero.h). Without such streams: its own first event.
  std::int64_t zero_ns() const { return has_.zero_ns.value_or(has_.first_time_ns); }
  void set_zero(std::int64_t time_ns) { has_.zero_ns = time_ns; }
  // It wraps, so that the sum with zero_ns() is the time again, whatever a file says.
  std::int64_t since_start_ns(std::int64_t time_ns) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(zero_ns()));
  }
  // After all events. Not on a version; use state_at() there.
  const StreamState& last_state() const { return growth_->last; }
  std::uint64_t encoded_bytes() const;
  // All memory of the stream, except the live blocks of the last state.
  std::uint64_t memory_bytes() const;
  // The part that grows with every event; constant time. Not on a version.
  std::uint64_t event_memory_bytes() const { return growth_->block_bytes + growth_->keyframe_bytes; }

  // The state after the first `position` events; past the end: the last one.
  StreamState state_at(std::uint64_t position) const;
  // Advances a state to a later position; a new state starts before the first event.
  void advance(StreamState& state, std::uint64_t position) const;
  // The first block from `number` on that is not of the ordinary kind, in which the live bytes are what its records of
  // blocks add up to: only allocations, frees, regions and notes, without a gap and without problems.
  std::size_t end_of_plain_sizes(std::size_t number) const;
  // The first position at which all events up to and including that time are applied.
  std::uint64_t position_of_time(std::int64_t time_ns) const;

 private:
  // One block: it is always decoded as a whole, wherever in it the position lies.
  static constexpr std::uint64_t keyframe_events_min = wire::block_events_max;

  // NetChanges can process the block.
  static constexpr std::uint8_t plain = 1;
  static constexpr std::uint8_t plain_sizes = 2;

  struct InexactPeak {
    HeapPeak peak;
    std::int64_t since_ns = 0;  // The loss after which there was no listing.
  };
  // Copies share whatever is sealed.
  struct Contents {
    SharedLog<wire::SharedBlock> blocks;
    SharedLog<std::uint8_t> plain_blocks;  // By block: `plain` and `plain_sizes`.
    Definitions definitions;
    EventCounts counts;
    SharedLog<FailureEvent> failures;
    SharedLog<Mark> marks;
    UseAtMarks use_at_marks;
    SharedLog<LossStretch> losses;
    SharedLog<RegionRange> regions_ever;
    CounterTable counters;
    AttributeTable attributes;
    ClockTable clocks;  // Only in versions.
    std::map<std::uint8_t, std::uint64_t> passed_over;
    std::vector<HeapPeak> peaks;                           // By heap, like the next two.
    std::vector<InexactPeak> inexact_peaks;                // Above those, but unreliable.
    std::vector<Timeline> timelines;                       // By heap.
    std::vector<UseCurve> curves;                          // By heap, with Keeps::curves.
    SharedLog<std::shared_ptr<const Keyframe>> keyframes;  // Ascending positions.
    std::uint64_t end_position = 0;
    std::uint64_t events_lost_at_end = 0, blocks_lost_at_end = 0;
    std::uint64_t keyframe_blocks = 0;  // How many of `blocks` belong to the source's keyframes.
    bool has_events = false, has_times = false;
    std::int64_t first_time_ns = 0, last_time_ns = 0;
    std::optional<std::int64_t> zero_ns;
  };
  // Only the growing stream has this, not its versions.
  struct Growth {
    Keeps keeps = Keeps::everything;
    bool needs_everything = false;
    UseState use;  // With Keeps::curves; `last` is empty then.
    StreamState last;
    ClockTable clocks;
    std::uint64_t block_bytes = 0, keyframe_bytes = 0;  // In memory.
    bool is_sparing = false;
    std::set<RegionRange> regions_ever;
    std::size_t next_mark = 0;                            // In `marks`.
    std::uint64_t keyframe_events = keyframe_events_min;  // The distance between keyframes, derived from their size.
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
  void note_regions(const wire::DecodedBlock& block);
  template <class Record>
  void note_failure(const RecordPlace& place, const Record& record, std::uint32_t reason, bool is_out_of_memory);
  void append_to_curves(const wire::DecodedBlock& block);
  bool has_lost_events_after(const FailureEvent& failure) const;
  void note_gap(const wire::BlockHeader& header, Gap gap);
  void note_peak(std::uint32_t heap, std::uint64_t position, std::int64_t time_ns);
  void note_marks_before(std::uint64_t position);
  bool contradicts_itself(std::uint32_t heap) const;
  bool keeps_inexact_peak(std::uint32_t heap) const;
  std::uint64_t next_keyframe_position() const;
  void keep_keyframe();
  std::uint64_t events_between(const Keyframe& keyframe) const;  // To the next; its bytes are counted.
  // The plain blocks after the keyframe, starting with the one in which it lies, up to the one with the event
  // `position`, as long as there is no gap.
  std::vector<wire::SharedBlock> plain_blocks_after(const Keyframe& keyframe, std::uint64_t position) const;

  Contents has_;
  std::unique_ptr<Growth> growth_;  // Null in versions.
};

}  // namespace hbmscope
