// What a snapshot's allocator held before the first recorded entry, and the size of every block: computed backwards
// from the final state, which the snapshot lists in full.
//
// A trace entry has the requested size, not the size of the block. Blocks that are live at the end have their size in
// the snapshot. For freed blocks it follows from the allocator's own rules (size_rules.h): the free blocks are known
// because the addresses are. For blocks from before the first entry too: a gap after one that is too small to have been
// split off belongs to it, and what is allocated later in a gap above one shows where it ends. If nothing shows it, the
// block may be up to 1 MiB larger (excess_bytes_max).
//
// Before March 2026 an entry does not name its pool, and addresses are reused: a range that the main pool returned may
// belong to a graph's private pool at the end. So regions are tracked too. A region that exists at the end has the pool
// of its segment. One that was returned earlier is assigned to the main pool, unless it was mapped next to a region
// that stayed. Blocks belong to the region that contains them at the time.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analysis/model/address_range.h"
#include "analysis/read/torch/peak_bounds.h"
#include "analysis/read/torch/torch_snapshot.h"

namespace hbmscope {

struct TorchInitialBlock {
  std::uint64_t address = 0, size_bytes = 0;
  std::int64_t requested_bytes = absent_bytes;
  std::uint32_t segment = 0;  // In the snapshot; no_segment if its region was freed later.
  TorchPoolId pool;           // From the entry that freed it.
  TorchStackId stack = TorchStackId::none;
  StringId user_metadata = StringId::empty;
  std::int64_t stream = 0;
  bool is_pending = false;
  bool is_size_derived = false;
  std::uint64_t excess_bytes_max = 0;  // It may be so much larger than size_bytes. At 0 its size is certain.
};

struct TorchInitialRegion {
  AddressRange range;
  std::uint32_t segment = 0;  // As above, like the pool.
  TorchPoolId pool;
  bool is_expandable = false;
};

struct TorchHistory {
  static constexpr std::uint32_t no_segment = 0xffffffff;

  std::vector<TorchInitialBlock> blocks;        // Before the first entry, in address order.
  std::vector<TorchInitialRegion> regions;      // As above.
  std::vector<std::uint64_t> entry_size_bytes;  // By entry: the block size of an alloc, or 0 for other entries.
  std::vector<std::uint8_t> is_entry_size_derived;
  // By entry: the segment of the snapshot whose pool it belongs to, or no_segment for the main pool.
  std::vector<std::uint32_t> entry_segment;
  // Entries that contradict the final state: a block that should be live is not, or one is in the way.
  std::uint64_t contradictions = 0;
  // By how much the peak of each pool may be higher than the sizes say, because some of them are not certain. Empty:
  // all sizes are certain.
  std::map<torch::PeakBounds::Pool, std::uint64_t> peak_excess_bytes_max;
};

// `trace` has the entries of one device, and `segments` are the snapshot's segments on it.
TorchHistory compute_torch_history(const TorchSnapshot& snapshot, const TorchTrace& trace,
                                   std::span<const std::uint32_t> segments);

}  // namespace hbmscope
