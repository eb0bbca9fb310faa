// Why a request failed, derived from the free memory and what could still be claimed.
#pragma once

#include <cstdint>
#include <string_view>

#include "allocator/reference/replay/player.h"

namespace hbmscope::allocator {

enum class ReplayVerdict : std::uint8_t {
  fault,         // The original aborts or hangs.
  too_big,       // More than everything that was free or could be claimed.
  had_room,      // A free chunk was large enough, but has no aligned place for the request.
  fragmented,    // Enough was free in the pool in total, but every free block was too small.
  stepped_over,  // The driver had enough left, but the backoff by nine tenths skipped past it.
  segment,       // The driver had enough for the request, but not for the region that would have served it.
  split,         // Enough only in total: part of it in the pool, part at the driver.
};
ReplayVerdict verdict_of(const ReplayFailure& failure);
std::string_view text_from_verdict(ReplayVerdict verdict);  // "too_big"

}  // namespace hbmscope::allocator
