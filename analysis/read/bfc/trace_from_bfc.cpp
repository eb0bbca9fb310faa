#include "analysis/read/bfc/trace_from_bfc.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/read/op_name_stack.h"
#include "analysis/trace/trace_writer.h"

namespace hbmscope::bfc {
namespace {

// "GPU_0_bfc", and of collectives "GPU_collectivememory_0_bfc": the number is the device's.
std::uint32_t device_of_name(std::string_view name) {
  if (!name.starts_with("GPU_")) return wire::no_device;
  constexpr std::string_view collective = "collectivememory_";
  name.remove_prefix(4);
  if (name.starts_with(collective)) name.remove_prefix(collective.size());
  std::uint32_t device = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), device);
  return parsed.ec == std::errc() && device < wire::no_device ? device : wire::no_device;
}

bool is_host(std::string_view name) {
  return name.find("host") != std::string_view::npos || name.find("cpu") != std::string_view::npos;
}

void add_heap(wire::StreamWriter& writer, const Dump& dump) {
  wire::HeapRecord heap;
  heap.device = device_of_name(dump.allocator);
  heap.layer = static_cast<std::uint8_t>(wire::Layer::chunk);
  heap.flags = wire::heap_flag::has_addresses | wire::heap_flag::has_requested;
  if (dump.has_all_chunks()) heap.flags |= wire::heap_flag::has_regions | wire::heap_flag::is_complete_at_start;
  const std::uint32_t id = writer.define_heap(heap, dump.allocator.empty() ? "BFC allocator" : dump.allocator,
                                              is_host(dump.allocator) ? "host_pinned" : "device");
  std::vector<wire::RegionLiveRecord> regions;
  std::vector<wire::LiveRecord> blocks;
  for (const Region& region : dump.regions) {
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
  writer.list_heap(id, regions, blocks, 0);
}

void check_sums(const Dump& dump, ImportStatistics& import) {
  std::uint64_t in_use = 0, chunks = 0;
  for (const Region& region : dump.regions)
    for (const Chunk& chunk : region.chunks) {
      ++chunks;
      if (chunk.is_in_use) in_use += chunk.size;
    }
  import.add("chunks", Severity::info, static_cast<std::int64_t>(chunks));
  if (!dump.in_use) return;
  import.add("sums_checked", Severity::info, 1);
  const std::uint64_t reported = dump.in_use->bytes;
  if (std::max(in_use, reported) - std::min(in_use, reported) > dump.in_use->error)
    import.add("sums_differ", Severity::warning, 1,
               "The dump's own total of bytes in use differs from the sum of its chunks; the chunks are shown.");
}

}  // namespace

Trace trace_from_dump(const Dump& dump, const std::string& file, std::uint64_t file_bytes) {
  TraceWriter out({file, "bfc_memory_dump", "BFC allocator memory dump", "xla:gpu", file_bytes});
  add_heap(out.events(), dump);
  check_sums(dump, out.trace().import);
  out.close();
  return std::move(out.trace());
}

}  // namespace hbmscope::bfc
