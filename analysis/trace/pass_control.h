// Shared between a pass over a stream and the side that waits for it: progress and cancellation.
#pragma once

#include <atomic>
#include <cstdint>

namespace hbmscope {

// All fields may be touched from any thread at any time.
struct PassControl {
  std::atomic<std::uint64_t> done_events = 0, total_events = 0;  // Total 0: not known yet.
  std::atomic<bool> cancelled = false;  // Set by the waiting side; the pass ends without an answer.
};

}  // namespace hbmscope
