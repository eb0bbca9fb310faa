// Writes one stream: gives ids to strings, frames and stacks, numbers to events and slots to frees, and hands out a
// block whenever one is full. What every source (a file reader, a draining process, a simulator) goes through.
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
#include "collector/wire/written_state.h"

namespace hbmscope::wire {

// How old the first record of a block may become before the block is closed: what a kill -9 of the recorder costs at
// most, and what a viewer waits for at most.
constexpr std::int64_t block_age_ns_file = 1'000'000'000;
constexpr std::int64_t block_age_ns_live = 50'000'000;

class StreamWriter {
 public:
  using Sink = std::function<void(SharedBlock)>;
  StreamWriter(std::uint32_t stream, Sink sink) : stream_(stream), encoder_(stream), sink_(std::move(sink)) {}

  // Before anything is written: for make_keyframe().
  void keep_state() { state_ = std::make_unique<WrittenState>(); }
  // All that a reader needs that has seen nothing and goes on with the blocks from here on; closes the block at hand.
  // What was reported about single allocations later (attributes), failures, marks and counters are not in it. Empty
  // where no state is kept.
  std::vector<SharedBlock> make_keyframe();
  // Hands one out between two blocks, wherever keyframes take a quarter of a byte an event then, and not where so much
  // lives that it would take its time. To be called now and then.
  void tell_keyframe_if_due();

  // Definitions. Equal ones get one id; 0 is the empty text, no frame, no stack.
  std::uint32_t define_string(std::string_view text);
  std::uint32_t define_frame(std::string_view function, std::string_view file, std::uint32_t line);
  std::uint32_t define_stack(std::uint32_t parent, std::uint32_t frame);
  std::uint32_t define_module(ModuleRecord module, std::string_view path, std::string_view build_id);
  // A frame of the process' code, `code.address` in `code.module`: a new one each time. `name` is what it is called
  // until name_frame() gives the function's; `file` is the module's.
  std::uint32_t define_code_frame(CodeRecord code, std::string_view name, std::string_view file);
  void name_frame(std::uint32_t frame, std::string_view function, std::string_view file, std::uint32_t line);
  std::uint32_t define_heap(HeapRecord heap, std::string_view name, std::string_view memory_kind);
  void add_job_fact(std::string_view key, std::string_view value);

  // For who has the events at hand: a block of this address is taken or given back some events from now. To say so
  // about eight events ahead takes a third off the time of a stream, most of which waits for the table of live blocks.
  [[gnu::always_inline]] void expect(std::uint32_t heap, std::uint64_t address) const {
    table_.prefetch(heap, address);
  }

  // Blocks. `alloc` returns the number that names the block from now on; `live` takes those that were there before.
  // Where one lives at that address already, its free was missed: it is freed first, and counted.
  std::uint64_t alloc(const AllocRecord& block, std::int64_t time_ns);
  void live(LiveRecord block);
  // False: no block of that heap lives at the address; it is recorded as such.
  bool free(std::uint32_t heap, std::uint64_t address, std::uint64_t size, std::uint32_t stack, std::int64_t time_ns);
  bool free_requested(std::uint32_t heap, std::uint64_t address, std::uint64_t size, std::uint32_t stack,
                      std::int64_t time_ns);
  // The block keeps its number. Where one lives at the new address, its free was missed.
  bool move(std::uint32_t heap, std::uint64_t from, std::uint64_t to, std::int64_t time_ns);

  // The heap and all that lives in it. What is freed of it afterwards is unknown.
  std::uint64_t drop_heap(const HeapGoneRecord& gone, std::int64_t time_ns);

  // After trouble. Heaps are inexact from a loss on until each was listed anew.
  // `count` events (0: unknown) between the two times are missing, of one heap or of all (0). Returns its event number.
  std::uint64_t note_loss(std::uint64_t count, std::int64_t since_ns, std::int64_t time_ns, std::uint32_t heap = 0);
  // All that a heap holds at this point of the stream, from its source's own table; begins a block. What the writer
  // thought of the heap is forgotten: blocks that were freed unseen are gone, and frees of all listed ones name their
  // slots again. Heap 0: all of them, and rows name theirs. Of the rows, `heap` and `slot` are filled in; `event` is
  // the number that alloc() returned, where the source knows that it is the same block, else unknown. Returns how many
  // rows were left out because an earlier one has the same address.
  std::uint64_t list_heap(std::uint32_t heap, std::span<const RegionLiveRecord> regions,
                          std::span<const LiveRecord> blocks, std::int64_t time_ns);

  // Whatever needs neither an id nor a slot.
  template <class Record>
  std::uint64_t add(const Record& record, std::int64_t time_ns) {
    time_ns_ = time_ns;
    const std::uint64_t number = encoder_.add(record, time_ns);
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

  void flush();  // Closes the block at hand, if there is anything in it.
  // Closes the block at hand if `age_ns_max` or more have passed since its first record; true where it did. `now_ns` is
  // on the clock of the events' times. A writer has no clock and no thread: whoever drains a running source calls this
  // with every round, also with those that brought no event, and at least a few times per `age_ns_max`, because a block
  // gets as much older as a round takes. Who has all events at once (a file's reader) need not call it.
  // Definitions carry the time of the event before them, and times may be wrong: a block may close early, never later
  // than `age_ns_max` after the first call that saw it.
  bool flush_if_older(std::int64_t now_ns, std::int64_t age_ns_max);
  std::uint64_t next_event() const { return encoder_.next_event(); }

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
  std::unique_ptr<WrittenState> state_;  // Null: none is kept.
  LiveTable table_;
  std::unordered_map<std::string, std::uint32_t> strings_;
  PairIds frames_, stacks_;
  void free_unseen(std::uint32_t slot, std::int64_t time_ns);
  template <class BySlot, class ByAddress>
  bool add_free(std::optional<std::uint32_t> slot, std::uint32_t heap, std::uint64_t address, std::uint64_t size,
                std::uint32_t stack, std::int64_t time_ns);

  std::uint64_t missed_frees_ = 0, keyframe_event_ = 0;
  std::uint32_t heaps_ = 0, modules_ = 0, frame_count_ = 0;
  std::int64_t time_ns_ = 0;                   // Of the last event; definitions carry it.
  std::optional<std::int64_t> waiting_since_;  // The first flush_if_older that saw the block at hand.
};

}  // namespace hbmscope::wire
