#include "analysis/trace/trace.h"

#include <algorithm>

namespace hbmscope {
namespace {

AddressProblems& operator+=(AddressProblems& sum, const AddressProblems& more) {
  sum.overlaps += more.overlaps;
  sum.outside += more.outside;
  sum.zero_sizes += more.zero_sizes;
  sum.impossible_sizes += more.impossible_sizes;
  sum.region_overlaps += more.region_overlaps;
  sum.region_missing += more.region_missing;
  sum.region_sizes += more.region_sizes;
  sum.blocks_removed += more.blocks_removed;
  return sum;
}

}  // namespace

void add_problem_statistics(Trace& trace) {
  AddressProblems space;
  StreamProblems problems;
  std::uint64_t bad = 0, missing = 0, damaged = 0, missing_blocks = 0;
  for (const Stream& stream : trace.streams) {
    const StreamState& state = stream.last_state();
    for (const HeapInfo& heap : stream.definitions().heaps()) space += state.heap(heap.id).space.problems();
    problems.unknown_frees += state.problems().unknown_frees;
    problems.bad_slots += state.problems().bad_slots;
    problems.undefined_heaps += state.problems().undefined_heaps;
    bad += stream.definitions().bad_definitions();
    missing += stream.definitions().missing_definitions();
    damaged += stream.counts().damaged_blocks;
    missing_blocks += stream.counts().missing_blocks;
  }
  const auto add = [&](std::string_view name, Severity severity, std::uint64_t count, std::string_view remedy) {
    if (count > 0)
      trace.import.add(name, severity, static_cast<std::int64_t>(std::min<std::uint64_t>(count, 1ULL << 62)), remedy);
  };
  add("unknown_free", Severity::notice, problems.unknown_frees,
      "Frees of addresses where nothing lived: the blocks are older than the recording.");
  add("block_overlap", Severity::warning, space.overlaps,
      "Blocks that begin or reach into a live block: the source lost a free. Both count as in use.");
  add("block_outside", Severity::warning, space.outside,
      "Blocks outside of all regions of their heap: the source did not tell a region. They count as in use.");
  add("block_size_zero", Severity::notice, space.zero_sizes, "Blocks of no bytes; they are counted and take nothing.");
  add("block_size_impossible", Severity::loss, space.impossible_sizes,
      "Blocks larger than any device; they are counted and their bytes are not.");
  add("blocks_without_region", Severity::warning, space.blocks_removed,
      "Live blocks whose region was given back under them; they still count as in use.");
  add("region_overlap", Severity::warning, space.region_overlaps,
      "Regions over other regions; what was new of them counts.");
  add("region_missing", Severity::warning, space.region_missing,
      "Regions were given back that the heap never took: the source lost an event.");
  add("region_size_impossible", Severity::loss, space.region_sizes,
      "Regions without a byte, or larger than any device; left out.");
  add("bad_slot", Severity::loss, problems.bad_slots,
      "Frees that name a block which is not there: parts of the stream are missing; heaps are inexact from there on.");
  add("undefined_heap", Severity::loss, problems.undefined_heaps,
      "Records of heaps that were never defined; left out.");
  add("bad_definition", Severity::loss, bad, "Definitions that contradict others or make no sense; left out.");
  add("missing_definition", Severity::loss, missing,
      "Names, frames or stacks whose definition is missing; they are shown as unknown.");
  add("missing_block", Severity::loss, missing_blocks,
      "Blocks of the recording are missing; heaps are inexact from there on.");
  add("damaged_block", Severity::loss, damaged, "Blocks that can't be read were left out.");
}

}  // namespace hbmscope
