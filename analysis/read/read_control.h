// What a reader and whoever waits for it share: how far it is, and the wish to stop. All fields may be touched from
// any thread at any time.
#pragma once

#include <atomic>
#include <cstdint>

namespace hbmscope {

struct ReadControl {
  std::atomic<std::uint64_t> done_bytes = 0, total_bytes = 0;  // total 0: not known yet.
  std::atomic<bool> cancelled = false;                         // Set by the waiting side; the reader returns an Error.
};

}  // namespace hbmscope
