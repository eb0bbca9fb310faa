#include "analysis/read/torch/table_sums.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "analysis/units/format.h"

namespace hbmscope {
namespace {

// A file may claim impossibly many bytes; a saturated sum still differs from the trace's.
void add_bytes(std::uint64_t& sum, std::int64_t bytes) {
  if (__builtin_add_overflow(sum, bytes_or_0(bytes), &sum)) sum = std::numeric_limits<std::uint64_t>::max();
}

std::string exact_text(std::uint64_t bytes) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  return exact_text_from_bytes(static_cast<std::int64_t>(std::min(bytes, most)));
}

}  // namespace

// Independent of the order.
void TorchTableSum::add_place(std::uint64_t address, std::uint64_t size_bytes) {
  std::uint64_t mixed = (address ^ size_bytes * 0x9e3779b97f4a7c15U) * 0xff51afd7ed558ccdU;
  mixed ^= mixed >> 32;
  places += mixed * 0xc4ceb9fe1a85ec53U;
}

std::vector<TorchTableSum> sum_up_tables(const TorchSnapshot& snapshot, std::span<const std::uint32_t> heap_of_segment,
                                         std::size_t heaps) {
  const TorchSegments& segments = snapshot.segments;
  std::vector<TorchTableSum> sums(heaps);
  for (std::uint32_t segment = 0; segment < snapshot.segments_at_end(); ++segment) {
    TorchTableSum& sum = sums[heap_of_segment[segment]];
    add_bytes(sum.region_bytes, segments.total_bytes[segment]);
    for (std::uint32_t i = segments.block_begin[segment]; i < segments.block_begin[segment + 1]; ++i) {
      if (!snapshot.blocks.is_active(i)) continue;
      ++sum.blocks;
      add_bytes(sum.block_bytes, snapshot.blocks.size_bytes[i]);
      sum.add_place(snapshot.blocks.address[i], bytes_or_0(snapshot.blocks.size_bytes[i]));
    }
  }
  return sums;
}

std::string text_from_sum(const TorchTableSum& sum) {
  return fmt::format("{} {} of {} in segments of {}", sum.blocks, sum.blocks == 1 ? "block" : "blocks",
                     exact_text(sum.block_bytes), exact_text(sum.region_bytes));
}

}  // namespace hbmscope
