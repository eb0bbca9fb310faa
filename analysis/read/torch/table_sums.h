// The sums of a snapshot's tables (segments and blocks) in each heap, which the trace of its entries must reach.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/read/torch/torch_snapshot.h"

namespace hbmscope {

struct TorchTableSum {
  std::uint64_t blocks = 0, block_bytes = 0, region_bytes = 0;  // Blocks that are not free. Byte sums saturate.
  std::uint64_t places = 0;                                     // A checksum of addresses and sizes.

  void add_place(std::uint64_t address, std::uint64_t size_bytes);
  friend bool operator==(const TorchTableSum&, const TorchTableSum&) = default;
};

// By heap, of the tables at the end; `heap_of_segment` maps segments to heaps.
std::vector<TorchTableSum> sum_up_tables(const TorchSnapshot& snapshot, std::span<const std::uint32_t> heap_of_segment,
                                         std::size_t heaps);

// "2 blocks of 6,291,456 B in segments of 20,971,520 B"
std::string text_from_sum(const TorchTableSum& sum);

}  // namespace hbmscope
