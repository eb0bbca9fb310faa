// Small blocks into large ones. A recorder closes a block every second, whatever is in it: ten events a second make
// blocks of some ten events, of which headers and check sums are most. When a file is written anew they become blocks
// of up to 65,536 events.
//
// Every record stays as it was, in its order: event numbers, times, ids, slots. So do gaps: a block that is missing
// before the merger is missing behind it, which its readers see by the numbers of the blocks. What is large already, or
// holds what this version does not know, goes through as it is; of its bytes only the block's number may change.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "collector/wire/block_decoder.h"
#include "collector/wire/block_encoder.h"

namespace hbmscope::wire {

// Takes one stream's blocks of events and of keyframes, in their order.
class BlockMerger {
 public:
  using Sink = std::function<void(SharedBlock)>;
  explicit BlockMerger(Sink sink) : sink_(std::move(sink)) {}

  void add(const SharedBlock& block);
  void flush();  // Hands out what waits for more.

 private:
  bool can_merge(const Block& block);
  bool fits(const Block& block) const;
  void pass_keyframe(const SharedBlock& block);
  void begin_group(const SharedBlock& block);
  void add_records();
  void hand_out(SharedBlock block, std::uint32_t sequence);
  std::uint32_t number_of(const BlockHeader& header) const;

  Sink sink_;
  BlockDecoder decoder_;
  DecodedBlock decoded_;
  // What waits: blocks that follow each other without a gap.
  std::optional<BlockEncoder> group_;
  SharedBlock first_;
  std::uint32_t group_blocks_ = 0, group_sequence_ = 0;
  std::uint64_t group_records_ = 0, group_events_ = 0, group_bytes_ = 0, next_event_ = 0;
  // What number the next block has if none is missing, as it comes and as it goes.
  std::uint32_t next_sequence_in_ = 0, next_sequence_out_ = 0;
};

}  // namespace hbmscope::wire
