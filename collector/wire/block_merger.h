// Merges small blocks into large ones. A recorder closes a block every second, whatever it contains: ten events per
// second give blocks of some ten events, which are mostly headers and checksums. When a file is rewritten, they become
// blocks of up to 65,536 events.
//
// Every record stays unchanged and in order: event numbers, times, ids, slots. So do gaps: a block missing in the input
// is missing in the output, which readers see in the block numbers. Blocks that are already large, or contain something
// that this version does not know, are passed on; at most their block number changes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "collector/wire/block_decoder.h"
#include "collector/wire/block_encoder.h"

namespace hbmscope::wire {

// Takes the blocks of events and keyframes of one stream, in order.
class BlockMerger {
 public:
  using Sink = std::function<void(SharedBlock)>;
  explicit BlockMerger(Sink sink) : sink_(std::move(sink)) {}

  void add(const SharedBlock& block);
  void flush();  // Writes the pending group.

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
  // The pending group: consecutive blocks without a gap.
  std::optional<BlockEncoder> group_;
  SharedBlock first_;
  std::uint32_t group_blocks_ = 0, group_sequence_ = 0;
  std::uint64_t group_records_ = 0, group_events_ = 0, group_bytes_ = 0, next_event_ = 0;
  // The next block number if none is missing, in the input and in the output.
  std::uint32_t next_sequence_in_ = 0, next_sequence_out_ = 0;
};

}  // namespace hbmscope::wire
