// The heaps that a job reports of its frameworks: pools of their allocators, and arrays where no allocator is seen.
// Writes their events, with the driver's memory below them (pool_regions.h), what is said about a block by its address
// (pool_blocks.h), and what was there before an attach (unidentified_memory.h).
#pragma once

#include <cstdint>
#include <set>
#include <string_view>

#include "collector/serve/pool_blocks.h"
#include "collector/serve/pool_regions.h"
#include "collector/serve/unidentified_memory.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::serve {

// All ids are the stream's.
class FrameworkMemory {
 public:
  FrameworkMemory(wire::StreamWriter& writer, PoolRegions& regions) : writer_(writer), regions_(regions) {}

  // A new heap of any kind, by its id. `has_named_blocks`: of an annotated allocator, whose blocks PJRT names.
  void add_heap(std::uint32_t id, const wire::HeapRecord& heap, bool has_named_blocks);
  void alloc(wire::AllocRecord block, std::int64_t time_ns);
  void free(const wire::FreeAtRecord& block, std::int64_t time_ns);
  void move(const wire::MoveAtRecord& block, std::int64_t time_ns);
  void drop_heap(const wire::HeapGoneRecord& gone, std::int64_t time_ns);
  void note(const wire::AttributeRecord& attribute, std::int64_t time_ns) { blocks_.note(attribute, time_ns, writer_); }
  // A block that was there before.
  void list(const wire::LiveRecord& block, std::int64_t time_ns);
  // A counter; `name`: its text.
  void note_figure(const wire::CounterRecord& figure, std::string_view name, std::int64_t time_ns);

 private:
  wire::StreamWriter& writer_;
  PoolRegions& regions_;
  std::set<std::uint32_t> arrays_;  // Heaps whose blocks are arrays with numbers of their framework.
  PoolBlocks blocks_;
  UnidentifiedMemory unidentified_{writer_, blocks_};
};

}  // namespace hbmscope::serve
