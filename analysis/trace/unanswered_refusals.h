// Requests that the driver refused and that nothing has answered since: the allocator may still retry (XLA with 90 % of
// the size, for ten seconds at most; PyTorch once, after it has freed its cache), or the job has failed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/trace/stream.h"

namespace hbmscope {

// An older refusal at the end of a stream waits for no retry; the job went on without the memory.
constexpr std::int64_t retry_patience_ns = 12'000'000'000;

// What answers a refusal, on the same device.
enum class Answer : std::uint8_t {
  retry,           // An allocation of at least half as much.
  any_allocation,  // Any: the job went on, with less or without.
};

// The indexes in Stream::failures() of the refusals in the last twelve seconds of the stream that nothing has answered:
// there was no such allocation, the device did not refuse again (the later refusal counts), and no allocator reported
// out of memory. If a refusal does not name a heap, any device answers it. Walks the events after the first such
// refusal; constant time if there is none. Ascending.
std::vector<std::size_t> find_unanswered_refusals(const Stream& stream, Answer answer);

}  // namespace hbmscope
