// Any bytes as an XSpace: whatever they say, the reader makes a trace whose heaps are the sum of their blocks, or says
// which byte is wrong.
#include <string>

#include "analysis/read/xspace/trace_from_xspace.h"
#include "tests/fuzz/fuzz_target.h"

using namespace hbmscope;

FUZZ_TARGET(fuzz_read_xspace, data, size) {
  const auto trace = read_xspace({data, size}, "fuzz");
  if (!trace) {
    require(!trace.error().what.empty() && trace.error().file == "fuzz");
    require(trace.error().offset.value_or(0) <= size);
    return 0;
  }
  require(!trace->streams.empty());
  const Stream& stream = trace->streams.front();
  const StreamProblems& problems = stream.last_state().problems();
  require(problems.bad_slots == 0 && problems.undefined_heaps == 0);
  require(stream.passed_over().empty());
  for (std::uint64_t third = 0; third <= 3; ++third) {
    const StreamState state = stream.state_at(stream.end_position() * third / 3);
    std::vector<std::uint64_t> in_use(stream.definitions().heaps().size());
    for (const LiveBlock& block : state.slots())
      if (block.is_live()) in_use.at(block.heap) += block.size;
    for (std::uint32_t heap = 1; heap < in_use.size(); ++heap) require(state.heap(heap).in_use_bytes == in_use[heap]);
  }
  return 0;
}
