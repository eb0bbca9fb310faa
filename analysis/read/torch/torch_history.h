// What a snapshot's allocator held before its first recorded entry, and what every block took: worked out backwards
// from the state at the end, which the snapshot lists in full.
//
// A trace entry has the requested size, not the size of the block. Blocks that live at the end have their size in the
// snapshot; of those that were freed it follows from the allocator's own rules (c10/cuda/CUDACachingAllocator.cpp,
// round_size and should_split, PyTorch 2.x): requests are rounded up to 512 bytes; what remains of the free piece is
// split off from 512 bytes on where the request is at most 1 MiB or segments are expandable, and otherwise only if it
// is more than 1 MiB. The pieces are known, because the addresses are; of blocks from before the first entry, too: a
// piece behind one that is too small to have been split off is its own.
//
// Before March 2026 an entry does not name its pool either, and addresses are used again: a range that the main pool
// gave back may belong to a graph's private pool at the end. So regions are followed too. One that is there at the end
// has its pool from the segment it lies in; one that was given back meanwhile is taken for the main pool's, unless it
// was mapped next to a region that stayed. Blocks are where the region is that holds them at the time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/model/address_range.h"
#include "analysis/read/torch/torch_snapshot.h"

namespace hbmscope {

struct TorchInitialBlock {
  std::uint64_t address = 0, size_bytes = 0;
  std::int64_t requested_bytes = absent_bytes;
  std::uint32_t segment = 0;  // Of the snapshot; no_segment where its region was freed meanwhile.
  TorchPoolId pool;           // As the entry says that freed it.
  TorchStackId stack = TorchStackId::none;
  StringId user_metadata = StringId::empty;
  std::int64_t stream = 0;
  bool is_pending = false;
  bool is_size_derived = false;
};

struct TorchInitialRegion {
  AddressRange range;
  std::uint32_t segment = 0;  // As above, as the pool.
  TorchPoolId pool;
  bool is_expandable = false;
};

struct TorchHistory {
  static constexpr std::uint32_t no_segment = 0xffffffff;

  std::vector<TorchInitialBlock> blocks;        // Before the first entry, ascending addresses.
  std::vector<TorchInitialRegion> regions;      // As above.
  std::vector<std::uint64_t> entry_size_bytes;  // By entry: what an alloc's block takes; 0 for other entries.
  std::vector<std::uint8_t> is_entry_size_derived;
  // By entry: the segment of the snapshot whose pool it belongs to, or no_segment for the main pool.
  std::vector<std::uint32_t> entry_segment;
  // Entries that contradict the state at the end: a block that should live does not, or one is in the way.
  std::uint64_t contradictions = 0;
};

// `trace` is the entries of the device, `segments` those of the snapshot that are on it.
TorchHistory compute_torch_history(const TorchSnapshot& snapshot, const TorchTrace& trace,
                                   std::span<const std::uint32_t> segments);

}  // namespace hbmscope
