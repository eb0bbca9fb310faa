#include "collector/serve/failure_watch.h"

#include <algorithm>
#include <utility>

namespace hbmscope::serve {

void add_failure(std::vector<Failure>& failures, Failure failure) {
  constexpr std::size_t failures_max = 16;
  if (failures.size() < failures_max)
    failures.push_back(std::move(failure));
  else
    failures.back().times += failure.times;
}

void FailureWatch::note_out_of_memory(std::uint64_t requested_bytes, std::string_view heap, std::string_view reason) {
  refusals_.clear();  // They led to this failure.
  Failure failure;
  failure.requested_bytes = requested_bytes;
  failure.heap = heap;
  failure.what = reason;
  add_failure(found_, std::move(failure));
}

void FailureWatch::note_refusal(std::uint32_t heap_id, std::uint64_t requested_bytes, std::string_view heap,
                                std::string_view call, std::int64_t time_ns, std::optional<std::uint64_t> free_bytes) {
  ++refusals_seen_;
  auto refusal =
      std::find_if(refusals_.begin(), refusals_.end(), [&](const Refusal& one) { return one.heap_id == heap_id; });
  if (refusal == refusals_.end()) refusal = refusals_.insert(refusals_.end(), Refusal{});
  refusal->heap_id = heap_id;
  refusal->time_ns = time_ns;
  refusal->failure.is_refusal = true;
  refusal->failure.requested_bytes = requested_bytes;
  refusal->failure.heap = heap;
  refusal->failure.what = call;
  refusal->failure.free_bytes = free_bytes;
}

void FailureWatch::note_taken(std::uint32_t heap_id, std::uint64_t bytes) {
  if (refusals_.empty()) return;
  std::erase_if(refusals_, [&](const Refusal& one) {
    return (one.heap_id == 0 || one.heap_id == heap_id) && bytes >= one.failure.requested_bytes / 2;
  });
}

std::uint64_t FailureWatch::pending_bytes() const {
  std::uint64_t bytes = 0;
  for (const Refusal& one : refusals_) bytes = std::max(bytes, one.failure.requested_bytes);
  return bytes;
}

std::vector<Failure> FailureWatch::take(std::int64_t now_ns, bool is_last) {
  if (!refusals_.empty())
    std::erase_if(refusals_, [&](Refusal& one) {
      // The job may report any time, so compute without overflow.
      const std::uint64_t age_ns = static_cast<std::uint64_t>(now_ns) - static_cast<std::uint64_t>(one.time_ns);
      const bool is_old = one.time_ns < now_ns && age_ns >= static_cast<std::uint64_t>(retry_patience_ns);
      if (!is_last && !is_old) return false;
      add_failure(found_, std::move(one.failure));
      return true;
    });
  return std::exchange(found_, {});
}

}  // namespace hbmscope::serve
