#include "analysis/trace/trace.h"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

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

template <class Add>
void add_physical(const PhysicalProblems& problems, const Add& add) {
  add("handle_release_unknown", Severity::notice, problems.unknown_releases,
      "Physical handles were released or exported that are not there: twice, or they are older than the recording.");
  add("handle_release_missed", Severity::warning, problems.missed_releases,
      "The driver gave a handle's number out again without a release, which is taken to have happened just before.");
  add("map_of_unknown_handle", Severity::notice, problems.unknown_handles,
      "Mappings of handles that are not there, as they are older than the recording; who owns their bytes is unknown.");
  add("map_beyond_handle", Severity::warning, problems.beyond_handle,
      "Mappings reach behind the end of their handle; counted as reported.");
  add("unmap_missed", Severity::warning, problems.missed_unmaps,
      "Mappings over mappings, which CUDA refuses: the source lost an unmap. The older ones are taken as unmapped.");
  add("unmap_unknown", Severity::notice, problems.unknown_unmaps,
      "Addresses were unmapped where nothing was mapped: the mapping is older than the recording.");
  add("unmap_partial", Severity::notice, problems.partial_unmaps,
      "Parts of mappings were unmapped, which CUDA refuses; the rest of them stays.");
  add("reservation_contradicts", Severity::warning, problems.bad_reservations,
      "Addresses were reserved twice, or given back without having been reserved: the source lost an event.");
  add("physical_size_impossible", Severity::loss, problems.impossible_sizes,
      "Handles, mappings or reservations without a byte, or larger than any device; left out.");
}

}  // namespace

bool needs_everything(const Trace& trace) {
  return std::any_of(trace.streams.begin(), trace.streams.end(),
                     [](const Stream& stream) { return stream.needs_everything(); });
}

void add_problem_statistics(Trace& trace) {
  AddressProblems space;
  StreamProblems problems;
  PhysicalProblems physical;
  std::map<std::uint8_t, std::uint64_t> passed_over;
  std::uint64_t counters_left_out = 0;
  std::uint64_t bad = 0, missing = 0, damaged = 0, missing_blocks = 0;
  for (const Stream& stream : trace.streams) {
    const StreamState& state = stream.last_state();
    for (const HeapInfo& heap : stream.definitions().heaps()) space += state.heap(heap.id).space.problems();
    problems.unknown_frees += state.problems().unknown_frees;
    problems.bad_slots += state.problems().bad_slots;
    problems.undefined_heaps += state.problems().undefined_heaps;
    physical += state.physical().problems();
    for (const auto& [kind, count] : stream.passed_over()) passed_over[kind] += count;
    counters_left_out += stream.counters().left_out();
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
      "Frees of addresses where nothing lived: the blocks are older than the recording, or were taken while events "
      "were lost.");
  add("block_overlap", Severity::warning, space.overlaps,
      "Blocks that begin or reach into a live block: the source lost a free. Both count as in use.");
  add("block_outside", Severity::warning, space.outside,
      "Blocks outside of all regions of their heap: the source did not report a region. They count as in use.");
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
      "Frees that name a block which is not there: parts of the stream are missing; heaps are inexact from there until "
      "they are listed anew.");
  add_physical(physical, add);
  add("undefined_heap", Severity::loss, problems.undefined_heaps + physical.undefined_heaps,
      "Records of heaps that were never defined; left out.");
  add("bad_definition", Severity::loss, bad, "Definitions that contradict others or make no sense; left out.");
  add("missing_definition", Severity::loss, missing,
      "Names, frames or stacks whose definition is missing; they are shown as unknown.");
  add("missing_block", Severity::loss, missing_blocks,
      "Blocks of the recording are missing; heaps are inexact from there until they are listed anew.");
  add("damaged_block", Severity::loss, damaged, "Blocks that can't be read were left out.");
  add("counters_left_out", Severity::notice, counters_left_out,
      "Samples of more counters than any source has; the stream is damaged.");
  for (const auto& [kind, count] : passed_over) {
    const wire::RecordDescription* known = wire::find_record(kind);
    add(known != nullptr ? fmt::format("passed_over_{}", known->name) : fmt::format("passed_over_record_{}", kind),
        Severity::notice, count, "Records of a kind that this version does not hold; a newer hbmscope reads them.");
  }
}

}  // namespace hbmscope
