// Writes one stream: assigns ids to strings, frames and stacks, numbers to events and slots to frees, and passes on a
// block whenever one is full. Every source uses it: file readers, draining processes, simulators.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "collector/wire/block_encoder.h"
#include "collector/wire/live_table.h"
#include "collector/wire/stack_ids.h"
#include "collector/wire/written_state.h"

namespace hbmscope::wire {

// The maximum age of a block's first record before the block is closed. It limits the loss at a kill -9 of the
// recorder, and the delay for viewers.
constexpr std::int64_t block_age_ns_file = 1'000'000'000;
constexpr std::int64_t block_age_ns_live = 50'000'000;

class StreamWriter {
 public:
  using Sink = std::function<void(SharedBlock)>;
  StreamWriter(std::uint32_t stream, Sink sink) : stream_(stream), encoder_(stream), sink_(std::move(sink)) {}

  // Call it before anything is written, to enable make_keyframe().
  void keep_state() { state_ = std::make_unique<WrittenState>(); }
  // Returns everything that a reader needs to continue with the following blocks without having seen anything before;
  // closes the current block. Attributes of single allocations, failures, markers and counters are not included. Empty
  // if no state is kept.
  std::vector<SharedBlock> make_keyframe();
  // Writes a keyframe between two blocks if keyframes then take at most a quarter of a byte per event; not if so much
  // is live that it would take too long. Call it now and then.
  void write_keyframe_if_due();

  // Definitions. Equal ones get the same id; 0 is the empty text, no frame, no stack.
  std::uint32_t define_string(std::string_view text);
  std::uint32_t define_frame(std::string_view function, std::string_view file, std::uint32_t line);
  std::uint32_t define_stack(std::uint32_t parent, std::uint32_t frame);
  std::uint32_t define_module(ModuleRecord module, std::string_view path, std::string_view build_id);
  // A frame of the code of a process, `code.address` in `code.module`. Each call defines a new one. `name` is its name
  // until name_frame() sets that of the function; `file` is that of the module.
  std::uint32_t define_code_frame(CodeRecord code, std::string_view name, std::string_view file);
  void name_frame(std::uint32_t frame, std::string_view function, std::string_view file, std::uint32_t line);
  std::uint32_t define_heap(HeapRecord heap, std::string_view name, std::string_view memory_kind);
  void add_job_fact(std::string_view key, std::string_view value);

  // A hint that a block at this address will be allocated or freed a few events from now. Calling it about eight events
  // ahead makes a stream a third faster, because most of its time is waiting for the table of live blocks.
  [[gnu::always_inline]] void expect(std::uint32_t heap, std::uint64_t address) const {
    table_.prefetch(heap, address);
  }

  // Blocks. `alloc` returns the number that identifies the block from now on; `live` adds blocks that existed before.
  // If a block is already live at that address, its free was missed: it is freed first, and counted.
  std::uint64_t alloc(const AllocRecord& block, std::int64_t time_ns);
  void live(LiveRecord block);
  bool is_live(std::uint32_t heap, std::uint64_t address) const { return table_.find(heap, address).has_value(); }
  // Returns false if no block of that heap is live at the address; the free is recorded as such.
  bool free(std::uint32_t heap, std::uint64_t address, std::uint64_t size, std::uint32_t stack, std::int64_t time_ns);
  bool free_requested(std::uint32_t heap, std::uint64_t address, std::uint64_t size, std::uint32_t stack,
                      std::int64_t time_ns);
  // The block keeps its number. If a block is live at the new address, its free was missed.
  bool move(std::uint32_t heap, std::uint64_t from, std::uint64_t to, std::int64_t time_ns);

  // Removes the heap and all its live blocks. Later frees in it are unknown.
  std::uint64_t drop_heap(const HeapGoneRecord& gone, std::int64_t time_ns);

  // After trouble. From a loss on, heaps are inexact until each was listed again.
  // `count` events (0: unknown) between the two times are missing, of one heap or of all (0). Returns its event number.
  std::uint64_t note_loss(std::uint64_t count, std::int64_t since_ns, std::int64_t time_ns, std::uint32_t heap = 0);
  // Lists everything that a heap holds at this point of the stream, from its source's own table; begins a block. The
  // writer's previous state of the heap is dropped: blocks freed unseen are gone, and frees of all listed blocks name
  // their slots again. Heap 0: all heaps; each row then names its heap. `heap` and `slot` of the rows are filled in;
  // `event` is the number that alloc() returned if the source knows that it is the same block, otherwise unknown.
  // Returns the number of rows left out because an earlier one has the same address.
  std::uint64_t list_heap(std::uint32_t heap, std::span<const RegionLiveRecord> regions,
                          std::span<const LiveRecord> blocks, std::int64_t time_ns);

  // Adds a record that needs neither an id nor a slot.
  template <class Record>
  std::uint64_t add(const Record& record, std::int64_t time_ns) {
    time_ns_ = time_ns;
    const std::uint64_t number = encoder_.add(record, time_ns);
    if constexpr (std::is_same_v<Record, MarkerRecord> || std::is_same_v<Record, CounterRecord> ||
                  std::is_same_v<Record, AttributeRecord> || std::is_same_v<Record, LossRecord>)
      ++notes_;
    if (state_) {
      if constexpr (std::is_same_v<Record, ClockRecord>)
        state_->note_clock(record, time_ns);
      else
        state_->note(record, number);
    }
    if (encoder_.is_full()) flush();
    return number;
  }

  std::uint64_t missed_frees() const { return missed_frees_; }

  void flush();  // Closes the current block, if it is not empty.
  // Closes the current block if `age_ns_max` or more has passed since its first record, and returns whether it did.
  // `now_ns` is on the clock of the event times. A writer has no clock and no thread: whoever drains a running source
  // must call this in every round, even without events, and at least a few times per `age_ns_max`, because a round can
  // make a block that much older. Callers that have all events at once (file readers) need not call it.
  // Definitions carry the time of the event before them, and times may be wrong. So a block may close early, but never
  // later than `age_ns_max` after the first call that saw it.
  bool flush_if_older(std::int64_t now_ns, std::int64_t age_ns_max);
  std::uint64_t next_event() const { return encoder_.next_event(); }
  // Events so far as a reader of the stream counts them (EventCounts::total): without markers, counters, attributes,
  // losses and derived frees.
  std::uint64_t counted_events() const { return next_event() - notes_ - missed_frees_; }

 private:
  struct PairHash {
    std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& key) const {
      return static_cast<std::size_t>((key.first * 0x9e3779b97f4a7c15U ^ key.second) * 0xff51afd7ed558ccdU >> 7);
    }
  };
  using PairIds = std::unordered_map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t, PairHash>;

  std::uint32_t stream_;
  BlockEncoder encoder_;
  Sink sink_;
  std::unique_ptr<WrittenState> state_;  // Null: no state is kept.
  LiveTable table_;
  std::unordered_map<std::string, std::uint32_t> strings_;
  PairIds frames_;
  StackIds stacks_;
  void free_unseen(std::uint32_t slot, std::int64_t time_ns);
  template <class BySlot, class ByAddress>
  bool add_free(std::optional<std::uint32_t> slot, std::uint32_t heap, std::uint64_t address, std::uint64_t size,
                std::uint32_t stack, std::int64_t time_ns);

  std::uint64_t missed_frees_ = 0, notes_ = 0, keyframe_event_ = 0;
  std::uint32_t heaps_ = 0, modules_ = 0, frame_count_ = 0;
  std::int64_t time_ns_ = 0;                   // The last event's time, which definitions carry.
  std::optional<std::int64_t> waiting_since_;  // Time of the first flush_if_older() that saw the current block.
};

}  // namespace hbmscope::wire
