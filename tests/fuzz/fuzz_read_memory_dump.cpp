// Any bytes as a memory dump of a BFC allocator, alone and after an allocator's name. What is accepted is one heap that
// is the sum of its blocks; anything else is refused with a place in the bytes.
#include <string>

#include "analysis/read/bfc/read_memory_dump.h"
#include "analysis/read/bfc/trace_from_bfc.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace hbmscope;

void read_dump(const std::string& text) {
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  const auto dump = bfc::read_memory_dump(bytes, "fuzz");
  if (!dump) {
    require(dump.error().offset && *dump.error().offset <= text.size(), "an error without a place");
    return;
  }
  const Trace trace = bfc::trace_from_dump(*dump, "fuzz", text.size());
  require(trace.import.count_of("encoding") == 0, "a block of the writer that the reader refuses");
  const StreamState& state = trace.streams.front().last_state();
  std::uint64_t sum = 0;
  for (const LiveBlock& block : state.slots())
    if (block.is_live()) sum += block.size;
  require(state.heap(1).in_use_bytes == sum, "a heap that is not the sum of its blocks");
}

}  // namespace

FUZZ_TARGET(fuzz_read_memory_dump, data, size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_dump(bytes);
  read_dump("\x0a\x09GPU_0_bfc" + bytes);
  return 0;
}
