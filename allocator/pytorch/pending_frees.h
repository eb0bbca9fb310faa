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

#include "allocator/pytorch/block.h"
#include "allocator/pytorch/stream_progress.h"

namespace hbmscope::allocator::pytorch {

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
  std::set<Block*> deferred_before_;                     // Of these, those that are still pending.
  std::unordered_map<const Block*, std::set<std::uint32_t>> named_in_recordings_;
  std::set<std::uint32_t> left_behind_;  // Streams named during a recording, of deleted blocks.
};

}  // namespace hbmscope::allocator::pytorch
