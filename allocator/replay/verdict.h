// Why a request failed: decided by the free memory and by what was left to claim.
#pragma once

#include <cstdint>
#include <string_view>

#include "allocator/replay/player.h"

namespace hbmscope::allocator {

enum class ReplayVerdict : std::uint8_t {
  fault,         // The original does not answer.
  too_big,       // More than all that was free and all that could be claimed.
  had_room,      // A free chunk was large enough, and has no aligned place for it.
  scattered,     // Enough was free in the pool, in pieces that are each too small.
  stepped_over,  // The driver had enough left, and the steps of nine tenths went past it.
  segment,       // The driver had enough for the request, but not for the region that would have served it.
  split,         // Enough only together: some in the pool, some at the driver.
};
ReplayVerdict verdict_of(const ReplayFailure& failure);
std::string_view text_from_verdict(ReplayVerdict verdict);  // "too_big"

}  // namespace hbmscope::allocator
