#include "analysis/read/bfc/trace_from_bfc.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/read/bfc/reported_bins.h"
#include "analysis/read/counter.h"
#include "analysis/read/op_name_stack.h"
#include "analysis/trace/trace_writer.h"

namespace hbmscope::bfc {
std::uint32_t device_of_allocator(std::string_view name) {
  if (!name.starts_with("GPU_")) return wire::no_device;
  constexpr std::string_view collective = "collectivememory_";
  name.remove_prefix(4);
  if (name.starts_with(collective)) name.remove_prefix(collective.size());
  std::uint32_t device = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), device);
  return parsed.ec == std::errc() && device < wire::no_device ? device : wire::no_device;
}

std::string_view memory_kind_of_allocator(std::string_view name) {
  const bool is_host = name.find("host") != std::string_view::npos || name.find("cpu") != std::string_view::npos;
  return is_host ? "host_pinned" : "device";
}

std::uint32_t define_heap(wire::StreamWriter& writer, const Dump& dump, std::string_view name) {
  wire::HeapRecord heap;
  heap.device = device_of_allocator(dump.allocator);
  heap.layer = static_cast<std::uint8_t>(wire::Layer::chunk);
  const auto has_requested = [](const Region& region) {
    return std::any_of(region.chunks.begin(), region.chunks.end(),
                       [](const Chunk& chunk) { return chunk.requested.has_value(); });
  };
  if (!dump.regions.empty()) heap.flags |= wire::heap_flag::has_addresses;
  if (std::any_of(dump.regions.begin(), dump.regions.end(), has_requested))
    heap.flags |= wire::heap_flag::has_requested;
  if (dump.has_all_chunks()) heap.flags |= wire::heap_flag::has_regions | wire::heap_flag::is_complete_at_start;
  return writer.define_heap(heap, name, memory_kind_of_allocator(dump.allocator));
}

void list_chunks(wire::StreamWriter& writer, std::uint32_t heap, const Dump& dump, ImportStatistics& import) {
  std::vector<wire::RegionLiveRecord> regions;
  std::vector<wire::LiveRecord> blocks;
  for (const Region& region : dump.regions) {
    if (region.chunks.empty()) continue;
    wire::RegionLiveRecord& row = regions.emplace_back();
    row.address = region.chunks.front().address;
    row.size = region.listed_bytes();
    for (const Chunk& chunk : region.chunks) {
      if (!chunk.is_in_use) continue;
      wire::LiveRecord& block = blocks.emplace_back();
      block.address = chunk.address;
      block.size = chunk.size;
      if (chunk.requested) block.requested = *chunk.requested;
      block.stack = define_op_name_stack(writer, dump.ops[chunk.op], {}, 0);
      if (chunk.end == End::upper) block.flags |= wire::block_flag::upper_end;
    }
  }
  if (!dump.has_all_chunks()) regions.clear();
  const std::uint64_t left_out = writer.list_heap(heap, regions, blocks, 0);
  if (left_out > 0)
    import.add("chunks_at_one_address", Severity::loss, static_cast<std::int64_t>(left_out),
               "The dump lists several chunks at one address; the first one is shown.");
}

void check_sums(const Dump& dump, ImportStatistics& import) {
  std::uint64_t in_use = 0, chunks = 0;
  for (const Region& region : dump.regions)
    for (const Chunk& chunk : region.chunks) {
      ++chunks;
      if (chunk.is_in_use) in_use += chunk.size;
    }
  import.add("chunks", Severity::info, static_cast<std::int64_t>(chunks));
  check_bins(dump, import);
  const MaybeBytes sum = dump.reported_in_use();
  if (!sum || !dump.has_all_chunks()) return;
  import.add("sums_checked", Severity::info, 1);
  if (!is_printed_as(in_use, *sum))
    import.add("sums_differ", Severity::warning, 1,
               "The dump's own total of bytes in use differs from the sum of its chunks; the chunks are shown.");
}

Trace trace_from_dump(const Dump& dump, const std::string& file, std::uint64_t file_bytes) {
  TraceWriter out({file, "bfc_memory_dump", "BFC allocator memory dump", "xla:gpu", file_bytes});
  const std::uint32_t heap = define_heap(out.events(), dump, dump.allocator.empty() ? "BFC allocator" : dump.allocator);
  list_chunks(out.events(), heap, dump, out.trace().import);
  check_sums(dump, out.trace().import);
  for_each_bin_figure(dump, [&](const std::string& name, const MaybeBytes& value) {
    if (value)
      add_counter(out.events(), name, static_cast<std::int64_t>(std::min(value->bytes, std::uint64_t{1} << 62)), heap,
                  0);
  });
  out.close();
  return std::move(out.trace());
}

}  // namespace hbmscope::bfc
