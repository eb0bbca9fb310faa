// What users should know about a trace made from a snapshot: rows of the import statistics.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/model/import_statistics.h"
#include "analysis/read/torch/table_sums.h"
#include "analysis/read/torch/torch_history.h"

namespace hbmscope {

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
