// Any bytes as a Chrome trace, and as the list of events in one: whatever they say, the reader makes a trace whose
// heaps are the sum of their blocks, or says which byte is wrong.
#include <string>

#include "analysis/read/kineto/read_kineto.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace hbmscope;

void read_kineto_text(const std::string& text) {
  const auto trace = read_kineto({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "fuzz");
  if (!trace) {
    require(!trace.error().what.empty() && trace.error().file == "fuzz");
    require(trace.error().offset.value_or(0) <= text.size());
    return;
  }
  const Stream& stream = trace->streams.front();
  require(trace->import.count_of("encoding") == 0);
  const StreamProblems& problems = stream.last_state().problems();
  // Blocks whose allocation was not seen are listed as older. So a free can't be unknown, but a second free of the same
  // block can.
  require(problems.bad_slots == 0 && problems.undefined_heaps == 0);
  require(stream.passed_over().empty());
  for (std::uint64_t third = 0; third <= 3; ++third) {
    const StreamState state = stream.state_at(stream.end_position() * third / 3);
    std::vector<std::uint64_t> in_use(stream.definitions().heaps().size());
    for (const LiveBlock& block : state.slots())
      if (block.is_live()) in_use.at(block.heap) += block.size;
    for (std::uint32_t heap = 1; heap < in_use.size(); ++heap) require(state.heap(heap).in_use_bytes == in_use[heap]);
  }
  for (std::uint32_t stack = 1; stack < stream.definitions().stack_count(); ++stack)
    require(stream.definitions().stack(stack).parent < stack);
}

}  // namespace

FUZZ_TARGET(fuzz_read_kineto, data, size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_kineto_text(bytes);
  read_kineto_text("{\"traceEvents\":[" + bytes + "]}");
  return 0;
}
