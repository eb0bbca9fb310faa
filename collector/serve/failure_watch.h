// Finds a process' failures in its rows as they arrive.
//
// An out-of-memory error is a failure at once, because a framework reported it. A refusal by the driver is not yet a
// failure: XLA then requests 0.9 of the size, and PyTorch frees its cache and retries. It becomes a failure if no retry
// follows within `retry_patience_ns`, or before the process ends. A retry is the next allocation of the same heap that
// is at least half of the refused size; if the refusal has no size or heap, the next one of any size or heap. Of two
// refusals on one heap the later one counts, as in a start that backs off step by step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hbmscope::serve {

// XLA's allocator waits ten seconds for memory before it gives up.
constexpr std::int64_t retry_patience_ns = 12'000'000'000;

struct Failure {
  std::int64_t pid = 0;
  bool is_refusal = false;            // The driver refused, and there was no retry. Otherwise a framework gave up.
  std::uint64_t requested_bytes = 0;  // 0: unknown, or the call has no size (a context, a launch).
  std::string heap;                   // Empty: unknown.
  std::string what;                   // The driver's call, or the framework's reason, if it is known.
  // For a refusal: free on the device, as the driver reported just after it.
  std::optional<std::uint64_t> free_bytes{};
  std::uint64_t times = 1;  // The number of failures that this one stands for, if they were not collected in time.
};
// Failures are appended; beyond a small number the last one's `times` is raised instead.
void add_failure(std::vector<Failure>& failures, Failure failure);

// For one process. Ids are those of the job; times are on one clock.
class FailureWatch {
 public:
  void note_out_of_memory(std::uint64_t requested_bytes, std::string_view heap, std::string_view reason);
  void note_refusal(std::uint32_t heap_id, std::uint64_t requested_bytes, std::string_view heap, std::string_view call,
                    std::int64_t time_ns, std::optional<std::uint64_t> free_bytes = {});
  void note_taken(std::uint32_t heap_id, std::uint64_t bytes);
  std::uint64_t refusals() const { return refusals_seen_; }  // All refusals so far.
  // Refusals that may still be retried, and the size of the largest of them.
  std::size_t pending() const { return refusals_.size(); }
  std::uint64_t pending_bytes() const;
  // All failures since the last call. `is_last`: the process reports nothing more.
  std::vector<Failure> take(std::int64_t now_ns, bool is_last);

 private:
  struct Refusal {
    std::uint32_t heap_id = 0;
    std::int64_t time_ns = 0;
    Failure failure;
  };
  std::vector<Refusal> refusals_;  // At most one for each heap.
  std::vector<Failure> found_;
  std::uint64_t refusals_seen_ = 0;
};

}  // namespace hbmscope::serve
