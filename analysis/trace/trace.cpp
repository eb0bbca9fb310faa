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

void add_physical(const PhysicalProblems& problems, ImportStatistics& import) {
  import.add_if_any(
      "handle_release_unknown", Severity::notice, problems.unknown_releases,
      "Unknown physical handles were released or exported: released twice, or created before the recording.");
  import.add_if_any(
      "handle_release_missed", Severity::warning, problems.missed_releases,
      "The driver reused the number of a handle without a release; the release is assumed to be just before.");
  import.add_if_any("map_of_unknown_handle", Severity::notice, problems.unknown_handles,
                    "Mappings of handles that were created before the recording; the owner of their bytes is unknown.");
  import.add_if_any("map_beyond_handle", Severity::warning, problems.beyond_handle,
                    "Mappings that extend past the end of their handle; counted as reported.");
  import.add_if_any(
      "unmap_missed", Severity::warning, problems.missed_unmaps,
      "Overlapping mappings, which CUDA refuses: the source lost an unmap. The older ones count as unmapped.");
  import.add_if_any("unmap_unknown", Severity::notice, problems.unknown_unmaps,
                    "Addresses were unmapped where nothing was mapped: the mapping was made before the recording.");
  import.add_if_any("unmap_partial", Severity::notice, problems.partial_unmaps,
                    "Parts of mappings were unmapped, which CUDA refuses; the rest stays mapped.");
  import.add_if_any("reservation_contradicts", Severity::warning, problems.bad_reservations,
                    "Addresses were reserved twice, or released without being reserved: the source lost an event.");
  import.add_if_any("physical_size_impossible", Severity::loss, problems.impossible_sizes,
                    "Handles, mappings or reservations that are empty or larger than any device; ignored.");
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
  ImportStatistics& import = trace.import;
  import.add_if_any(
      "unknown_free", Severity::notice, problems.unknown_frees,
      "Frees of addresses without a live block: the blocks were allocated before the recording, or while events were "
      "lost.");
  import.add_if_any("block_overlap", Severity::warning, space.overlaps,
                    "Blocks that overlap a live block: the source lost a free. Both count as in use.");
  import.add_if_any(
      "block_outside", Severity::warning, space.outside,
      "Blocks outside all regions of their heap: the source did not report a region. They count as in use.");
  import.add_if_any("block_size_zero", Severity::notice, space.zero_sizes,
                    "Blocks of 0 bytes; they are counted, but use no memory.");
  import.add_if_any("block_size_impossible", Severity::loss, space.impossible_sizes,
                    "Blocks larger than any device; they are counted, but their bytes are not.");
  import.add_if_any("blocks_without_region", Severity::warning, space.blocks_removed,
                    "Live blocks whose region was released; they still count as in use.");
  import.add_if_any("region_overlap", Severity::warning, space.region_overlaps,
                    "Overlapping regions; only the new part counts.");
  import.add_if_any("region_missing", Severity::warning, space.region_missing,
                    "Regions were released that the heap never reserved: the source lost an event.");
  import.add_if_any("region_size_impossible", Severity::loss, space.region_sizes,
                    "Regions that are empty or larger than any device; ignored.");
  import.add_if_any(
      "bad_slot", Severity::loss, problems.bad_slots,
      "Frees of an unknown block: parts of the stream are missing; heaps are inexact from there until they are listed "
      "again.");
  add_physical(physical, import);
  import.add_if_any("undefined_heap", Severity::loss, problems.undefined_heaps + physical.undefined_heaps,
                    "Records of heaps that were never defined; ignored.");
  import.add_if_any("bad_definition", Severity::loss, bad,
                    "Definitions that are invalid or contradict others; ignored.");
  import.add_if_any("missing_definition", Severity::loss, missing,
                    "Names, frames or stacks whose definition is missing; they are shown as unknown.");
  import.add_if_any("missing_block", Severity::loss, missing_blocks,
                    "Blocks of the recording are missing; heaps are inexact from there until they are listed again.");
  import.add_if_any("damaged_block", Severity::loss, damaged, "Blocks that can't be read were ignored.");
  import.add_if_any("counters_left_out", Severity::notice, counters_left_out,
                    "Samples of more counters than any source has; the stream is damaged.");
  for (const auto& [kind, count] : passed_over) {
    const wire::RecordDescription* known = wire::find_record(kind);
    import.add_if_any(
        known != nullptr ? fmt::format("passed_over_{}", known->name) : fmt::format("passed_over_record_{}", kind),
        Severity::notice, count, "Unknown kinds of records; a newer hbmscope reads them.");
  }
}

}  // namespace hbmscope
