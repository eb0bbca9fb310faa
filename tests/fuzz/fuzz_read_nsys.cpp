// Any bytes as an export of Nsight Systems: as a database, and as rows of its tables, which few mutations of a database
// reach. The result must be consistent: heaps are the sums of their blocks, and no event is lost without being counted.
#include <cstdio>
#include <string>

#include "analysis/read/nsys/memory_events.h"
#include "analysis/read/nsys/read_nsys.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace hbmscope;

void require_sums(const Trace& trace) {
  for (const Stream& stream : trace.streams) {
    std::uint64_t bytes = 0, in_use = 0;
    const StreamState& state = stream.last_state();
    for (const LiveBlock& block : state.slots())
      if (block.is_live()) bytes += block.size;
    for (const HeapInfo& heap : stream.definitions().heaps())
      if (heap.id != 0) in_use += state.heap(heap.id).in_use_bytes;
    require(bytes == in_use, "heaps are not the sum of their blocks");
  }
  require(trace.import.count_of("encoding") == 0, "a block of the writer that the reader refuses");
}

void read_database(const std::uint8_t* data, std::size_t size) {
  auto file = InputFile::of_text(
      "fuzz", std::string("SQLite format 3\0", 16) + std::string(reinterpret_cast<const char*>(data), size));
  require(file.has_value(), "a text that is no file");
  const auto content = nsys_format.read(*file, {}, nullptr);
  if (!content) require(!content.error().what.empty() && content.error().file == "fuzz", "an error without words");
  if (content) require_sums(*content->trace);
}

void read_rows(const std::uint8_t* data, std::size_t size) {
  nsys::Export rows;
  const auto draw = [&](std::uint64_t n) { return size == 0 ? 0 : (--size, *data++ % n); };
  std::int64_t time_ns = 0;
  while (size > 0) {
    time_ns += static_cast<std::int64_t>(draw(4));
    nsys::MemoryEvent event;
    event.time_ns = time_ns;
    event.process = draw(2);
    event.device = static_cast<std::uint32_t>(draw(2));
    event.address = 0x1000 + draw(16) * 256;
    event.bytes = draw(8) == 7 ? (std::uint64_t{1} << 48) - 1 : draw(8) * 128;
    event.pool = draw(4) == 0 ? 0x9000 : 0;
    event.pool_bytes = static_cast<std::int64_t>(draw(3)) - 1;
    event.kind = static_cast<nsys::MemoryKind>(draw(8));
    event.is_free = draw(2) == 0;
    rows.events.push_back(event);
    if (draw(8) == 0) rows.failures.push_back({time_ns, time_ns + 2, draw(2), 1, -1});
    if (draw(8) == 0) rows.markers.push_back({time_ns, draw(3), static_cast<std::uint8_t>(draw(3)), "step"});
  }
  const Trace trace = trace_from_nsys(rows, "fuzz", 1);
  require_sums(trace);
  std::uint64_t seen = 0;
  for (const Stream& stream : trace.streams) seen += stream.counts().alloc + stream.counts().free;
  require(seen <= rows.events.size() + static_cast<std::uint64_t>(trace.import.count_of("missing_frees")),
          "events that no row reports");
}

}  // namespace

FUZZ_TARGET(fuzz_read_nsys, data, size) {
  read_database(data, size);
  read_rows(data, size);
  return 0;
}
