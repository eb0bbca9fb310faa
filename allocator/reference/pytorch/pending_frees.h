// Blocks that the program freed while other streams may still use them.
//
// A block of stream 0 that record_stream() named for stream 1 is freed: an event is recorded on stream 1, and the block
// can be reused when a later request finds that the event is done. While a private pool records (a graph is captured),
// no event can be recorded or queried: the free waits for the end of the recording, and only streams that were named
// before the recording get an event then, because the graph itself orders the others.
//
// Like PyTorch 2.9.1 (block_to_cudagraph_stream_uses in c10/cuda/CUDACachingAllocator.cpp), this remembers a stream
// that was named during a recording until the block is freed during one, even if the block had other users in between.
// PyTorch remembers it even after the block object was deleted, for the next object at the same heap address. Which one
// that is depends on the process's heap: StreamProgress may say so, and by default there is none.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "allocator/reference/pytorch/block.h"

namespace hbmscope::allocator::pytorch {

// How far the streams of the device have got, which decides when a block that other streams used can be reused. A
// device answers with its events; a replay answers with the recorded times.
class StreamProgress {
 public:
  using Event = std::uint64_t;
  virtual ~StreamProgress() = default;
  // Records an event behind all work enqueued on the stream so far.
  virtual Event record(std::uint32_t stream) = 0;
  virtual bool is_done(Event event) = 0;
  virtual void wait(Event event) = 0;
  virtual void wait_for_stream(std::uint32_t stream) = 0;
  // Puts blocks whose frees complete together, given by address, into the order in which they are freed. PyTorch visits
  // them in the order of its hash tables, whose keys are streams and heap addresses. The order decides no address.
  virtual void sort_completed(std::vector<std::uint64_t>& /*addresses*/) {}
  // Which of the candidates, blocks freed during the recording of a private pool, complete together with `done`
  // although their streams are not done. PyTorch keeps the streams that were named during a recording by the heap
  // address of the block object, also when the object is deleted. If the heap puts another block object there, these
  // streams count as its own (pending_frees.h). Candidates wait only for streams that deleted blocks left behind so.
  virtual std::vector<std::uint64_t> completing_with_recording(const std::vector<std::uint64_t>& /*done*/,
                                                               const std::vector<std::uint64_t>& /*candidates*/) {
    return {};
  }
};

class PendingFrees {
 public:
  // Without it, all streams are always done.
  void set_progress(StreamProgress* progress) { progress_ = progress; }
  StreamProgress* progress() const { return progress_; }

  void note_use(Block* block, std::uint32_t stream, bool is_recording);
  // The block has other streams. False: nothing to wait for.
  bool add(Block* block, bool is_recording);
  void forget(const Block* block);  // It is deleted.

  // Both return blocks whose frees are complete, in the order in which they are to be freed: those whose events are
  // done now, or all after waiting for their events (with a pool: all of that pool). Until it is freed, each has one
  // pending event left.
  std::vector<Block*> take_done();
  std::vector<Block*> wait_for_all(const PrivatePool* pool);

 private:
  struct Pending {
    StreamProgress::Event event;
    Block* block;
  };

  void record_events(Block* block);
  void end_deferral(std::vector<Block*>& completed);
  void count_done(Block* block, std::vector<Block*>& completed);
  void complete_with_recording(std::vector<Block*>& completed);
  void drop_events(Block* block);
  std::vector<Block*> sorted(std::vector<Block*> completed);

  StreamProgress* progress_ = nullptr;
  std::map<std::uint32_t, std::deque<Pending>> events_;  // By stream, oldest first.
  std::vector<Block*> deferred_;                         // Freed during a recording.
  std::set<Block*> deferred_before_;                     // Those of them that are still pending.
  std::unordered_map<const Block*, std::set<std::uint32_t>> named_in_recordings_;
  std::set<std::uint32_t> left_behind_;  // Streams named during a recording, of deleted blocks.
};

}  // namespace hbmscope::allocator::pytorch
