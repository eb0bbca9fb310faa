// Which of a process' failures somebody wants to hear of, told from its rows as they are taken in.
//
// An out-of-memory is one at once: a framework said so. A refusal of the driver is none yet: XLA asks again for 0.9 of
// it, PyTorch frees its cache and asks again. It becomes one when no retry has followed within `retry_patience_ns`, or
// before the process ended. A retry is the next thing that the same heap takes of at least half of what was refused;
// where the refusal does not tell the bytes or the heap, the next of any size or heap. Of two refusals on one heap the
// later one counts, as in a start that backs off step by step.
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
  bool is_refusal = false;                    // Of the driver, without a retry. Otherwise a framework gave up.
  std::uint64_t asked_bytes = 0;              // 0: not told, or nothing was asked for (a context, a launch).
  std::string heap;                           // Empty: not told.
  std::string what;                           // The driver's call, or the framework's reason; empty: not told.
  std::optional<std::uint64_t> free_bytes{};  // Of a refusal, on the device: the driver's answer just after it.
  std::uint64_t times = 1;                    // So many that nobody asked for in time are told as one.
};
// At the end; beyond a small number the last one is counted up instead.
void add_failure(std::vector<Failure>& failures, Failure failure);

// Of one process. Ids are the job's own; times are of one clock.
class FailureWatch {
 public:
  void note_out_of_memory(std::uint64_t asked_bytes, std::string_view heap, std::string_view reason);
  void note_refusal(std::uint32_t heap_id, std::uint64_t asked_bytes, std::string_view heap, std::string_view call,
                    std::int64_t time_ns, std::optional<std::uint64_t> free_bytes = {});
  void note_taken(std::uint32_t heap_id, std::uint64_t bytes);
  // Refusals that may be tried again still, and what the largest of them asked for.
  std::size_t pending() const { return refusals_.size(); }
  std::uint64_t pending_bytes() const;
  // All that was found since the last call. `is_last`: the process tells nothing more.
  std::vector<Failure> take(std::int64_t now_ns, bool is_last);

 private:
  struct Refusal {
    std::uint32_t heap_id = 0;
    std::int64_t time_ns = 0;
    Failure failure;
  };
  std::vector<Refusal> refusals_;  // At most one of each heap.
  std::vector<Failure> found_;
};

}  // namespace hbmscope::serve
