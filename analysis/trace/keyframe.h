// A compact snapshot of a state, a few bytes per block, from which replay can continue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/trace/packed_blocks.h"
#include "analysis/trace/stream_state.h"
#include "collector/wire/block_encoder.h"

namespace hbmscope {

struct KeyframeHeap {
  AddressProblems problems;
  std::size_t blocks = 0, free_chunks = 0;
  bool is_inexact = false;
  std::int64_t inexact_since_ns = 0;
};

struct Keyframe {
  static constexpr std::size_t rows_max = 8'192;  // Per block.
  std::vector<wire::Block> regions;
  PackedBlocks live;                     // By heap; within a heap by address, loose blocks last.
  std::vector<std::uint8_t> free_slots;  // pack_slots()
  std::size_t free_slot_count = 0;
  std::size_t next_block = 0, next_record = 0, slot_count = 0, known_heaps = 0;
  std::uint64_t blocks_seen = 0;
  std::uint32_t next_sequence = 0;
  std::uint64_t position = 0;
  std::int64_t time_ns = 0;
  StreamProblems problems;
  std::vector<KeyframeHeap> heaps;     // By id.
  std::vector<std::uint8_t> physical;  // PhysicalState::pack().

  std::uint64_t live_blocks() const {
    std::uint64_t blocks = 0;
    for (const KeyframeHeap& heap : heaps) blocks += heap.blocks;
    return blocks;
  }
  std::uint64_t memory_bytes() const {
    std::uint64_t bytes = sizeof(*this) + physical.capacity() + heaps.capacity() * sizeof(KeyframeHeap) +
                          live.memory_bytes() + free_slots.capacity();
    for (const wire::Block& block : regions) bytes += sizeof(block) + block.payload.capacity();
    return bytes;
  }
};

}  // namespace hbmscope
