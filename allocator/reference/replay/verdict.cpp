#include "allocator/reference/replay/verdict.h"

namespace hbmscope::allocator {

ReplayVerdict verdict_of(const ReplayFailure& failure) {
  if (failure.fault != Fault::none) return ReplayVerdict::fault;
  if (failure.request.bytes > request_bytes_max) return ReplayVerdict::too_big;
  const std::uint64_t bytes = failure.rounded_bytes;
  if (failure.largest_usable_bytes >= bytes) return ReplayVerdict::had_room;
  if (failure.driver_left_bytes >= bytes)
    return failure.last_refused_bytes < failure.first_refused_bytes ? ReplayVerdict::stepped_over
                                                                    : ReplayVerdict::segment;
  if (failure.free_bytes >= bytes) return ReplayVerdict::fragmented;
  if (failure.free_bytes + failure.driver_left_bytes >= bytes) return ReplayVerdict::split;
  return ReplayVerdict::too_big;
}

std::string_view text_from_verdict(ReplayVerdict verdict) {
  constexpr std::string_view texts[] = {"fault",        "too_big", "had_room", "scattered",
                                        "stepped_over", "segment", "split"};
  return texts[static_cast<std::size_t>(verdict)];
}

}  // namespace hbmscope::allocator
