// What users should know about a trace made from a snapshot: rows of the import statistics.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/model/import_statistics.h"
#include "analysis/read/torch/torch_history.h"
#include "analysis/read/torch/torch_snapshot.h"

namespace hbmscope {

// The sums of a snapshot's tables (segments and blocks) in each heap, which the trace of its entries must reach.
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

struct ConversionCounts {
  std::uint64_t contradictions = 0;  // Entries that contradict the tables.
  std::uint64_t derived_sizes = 0, blocks_before = 0;
  std::uint64_t uncertain_sizes = 0;        // Blocks that may be larger than their size in the trace.
  std::uint64_t peak_excess_bytes_max = 0;  // By how much that may raise a peak.
  std::int64_t impossible_times = 0, late_entries = 0;
  bool has_merged_pools = false, has_history_overflowed = false;
};
// The sizes and contradictions of one run of entries.
void add_history(const TorchHistory& history, ConversionCounts& counts);
void add_statistics(const ConversionCounts& counts, ImportStatistics& import);

// `reported` is what the trace contains and `listed` what the snapshot lists. In the first function `reported` follows
// from the entries, in the second from the tables as far as they could be listed.
void add_end_contradicts_snapshot(const std::string& heap, const TorchTableSum& reported, const TorchTableSum& listed,
                                  ImportStatistics& import);
void add_tables_contradict_themselves(const std::string& heap, const TorchTableSum& reported,
                                      const TorchTableSum& listed, ImportStatistics& import);

}  // namespace hbmscope
