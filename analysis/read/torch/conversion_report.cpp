#include "analysis/read/torch/conversion_report.h"

#include <algorithm>
#include <limits>
#include <string_view>

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

std::string text_from_difference(const std::string& heap, std::string_view who, const TorchTableSum& reported,
                                 const TorchTableSum& listed) {
  const std::string reported_text = text_from_sum(reported), listed_text = text_from_sum(listed);
  return fmt::format("{}: {} {}, the snapshot {}", heap, who, reported_text,
                     reported_text == listed_text ? "as many, some at other addresses or of other sizes" : listed_text);
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

void add_history(const TorchHistory& history, ConversionCounts& counts) {
  counts.contradictions += history.contradictions;
  for (const std::uint8_t is_derived : history.is_entry_size_derived) counts.derived_sizes += is_derived;
  for (const TorchInitialBlock& block : history.blocks) {
    counts.derived_sizes += block.is_size_derived ? 1 : 0;
    counts.uncertain_sizes += block.excess_bytes_max > 0 ? 1 : 0;
  }
  for (const auto& [pool, bytes] : history.peak_excess_bytes_max)
    counts.peak_excess_bytes_max = std::max(counts.peak_excess_bytes_max, bytes);
}

void add_statistics(const ConversionCounts& counts, ImportStatistics& import) {
  import.add("blocks_before_the_first_event", Severity::info, static_cast<std::int64_t>(counts.blocks_before));
  import.add_if_any(
      "size_derived", Severity::notice, static_cast<std::int64_t>(counts.derived_sizes),
      "PyTorch's trace has requested sizes, not block sizes; the sizes of blocks that were freed before the snapshot "
      "follow from the allocator's rules.");
  if (counts.uncertain_sizes > 0) {
    const bool is_in_peak = counts.peak_excess_bytes_max > 0;
    import.add(
        "uncertain_sizes", is_in_peak ? Severity::warning : Severity::notice,
        static_cast<std::int64_t>(counts.uncertain_sizes),
        fmt::format("Blocks from before the first entry may be up to 1 MiB larger than was requested: PyTorch "
                    "leaves no free space of 1 MiB or less after a large block, and nothing allocated later "
                    "shows where they end. {}",
                    is_in_peak
                        ? fmt::format("The peak is inexact: it may be up to {} higher. Start the history "
                                      "before the job allocates, or raise max_entries.",
                                      exact_text_from_bytes(static_cast<std::int64_t>(counts.peak_excess_bytes_max)))
                        : "They don't change the peak."));
  }
  import.add_if_any(
      "impossible_time", Severity::warning, counts.impossible_times,
      "Times before 1970 or after 2116 count as missing; such an entry has the time of the one before it.");
  import.add_if_any("merged_pools", Severity::warning, counts.has_merged_pools ? 1 : 0,
                    "More than 4,096 pools: blocks of further private pools are counted in the heap of their device.");
  import.add_if_any("late_entries", Severity::notice, counts.late_entries,
                    "Entries with an earlier time than the entry before them; they keep their place in the file.");
  import.add_if_any("history_overflowed", Severity::notice, counts.has_history_overflowed ? 1 : 0,
                    "PyTorch keeps this many entries and drops the oldest, so earlier events are not in the file. "
                    "_record_memory_history(max_entries=...) keeps more.");
  import.add_if_any(
      "contradiction", Severity::warning, static_cast<std::int64_t>(counts.contradictions),
      "Entries of the trace contradict the blocks of the snapshot: another thread allocated while the history was "
      "recorded, or the trace is from another snapshot. Earlier times are inexact.");
}

void add_end_contradicts_snapshot(const std::string& heap, const TorchTableSum& reported, const TorchTableSum& listed,
                                  ImportStatistics& import) {
  import.add("end_contradicts_snapshot", Severity::loss, 1,
             "The trace contradicts the snapshot: followed to its end, it does not arrive at the blocks and segments "
             "that the snapshot lists. The end is what the snapshot lists; before it figures of this device's heaps "
             "are inexact, because entries are missing or wrong. Take the snapshot while history is still recorded, "
             "with no other thread allocating.",
             text_from_difference(heap, "followed to the end the trace has", reported, listed));
}

void add_tables_contradict_themselves(const std::string& heap, const TorchTableSum& reported,
                                      const TorchTableSum& listed, ImportStatistics& import) {
  import.add("tables_contradict_themselves", Severity::loss, 1,
             "Blocks or segments of the snapshot overlap, or have impossible sizes: figures of this heap are inexact "
             "at the end, too. The file may be damaged.",
             text_from_difference(heap, "what can be listed are", reported, listed));
}

}  // namespace hbmscope
