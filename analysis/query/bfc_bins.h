// The bins of a heap of a BFC allocator (XLA, JAX, TensorFlow) at a given time: its blocks and free blocks by size. For
// a request the allocator looks for a free block in the bin of the request's size, then in the larger ones. Bin b has
// those of at least 256 << b bytes; the last one, from 256 MiB on, all larger ones too. A block of 300 bytes is in the
// bin of 256 bytes, one of 1 GiB in that of 256 MiB.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/trace/moment.h"

namespace hbmscope {

// Absent: unknown, or not reported.
struct BfcBinFigures {
  std::optional<std::uint64_t> blocks, blocks_in_use, bytes, in_use_bytes, requested_bytes;
};

struct BfcBin {
  std::uint64_t from_bytes = 0;
  BfcBinFigures computed;  // From the heap's blocks and free blocks. Empty if its regions are unknown.
  BfcBinFigures reported;  // By the dump; printed sizes are rounded.

  // The computed ones; where they are unknown, the reported ones.
  const BfcBinFigures& known() const { return computed.blocks ? computed : reported; }
  // A log lists blocks without their requested sizes, but reports their sum.
  std::optional<std::uint64_t> known_requested_bytes() const {
    return known().requested_bytes ? known().requested_bytes : reported.requested_bytes;
  }
};

// Whether the heap has the name of a BFC allocator's pool, "GPU_0_bfc", or bins were reported of it.
bool is_of_bfc(const Stream& stream, std::uint32_t heap);
bool has_reported_bins(const Stream& stream, std::uint32_t heap);

// The bins with blocks, smallest first.
std::vector<BfcBin> compute_bfc_bins(const Stream& stream, const StreamState& state, std::uint32_t heap);

}  // namespace hbmscope
