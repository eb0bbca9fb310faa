#include "collector/serve/tick_clock.h"

#include <time.h>

#include <limits>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace hbmscope::serve {
namespace {

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::uint64_t counter() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(monotonic_ns());
#endif
}

}  // namespace

TickClock::TickClock(bool ticks_are_ns) : ticks_are_ns_(ticks_are_ns) {
  before_ = read();
  if (ticks_are_ns_) return;
  // Two readings a tenth of a millisecond apart; the first round's readings are better.
  while (monotonic_ns() - before_.ns < 100'000) {
  }
  last_ = read();
}

TickClock::Reading TickClock::read() const {
  if (ticks_are_ns_) {
    const std::int64_t ns = monotonic_ns();
    return {static_cast<std::uint64_t>(ns), ns};
  }
  // This thread may be descheduled between the two clocks; of a few tries the closest pair is used.
  Reading best;
  std::uint64_t closest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t before = counter();
    const std::int64_t ns = monotonic_ns();
    const std::uint64_t after = counter();
    if (after - before >= closest) continue;
    closest = after - before;
    best = {before + closest / 2, ns};
  }
  return best;
}

void TickClock::note(const Reading& now) {
  if (ticks_are_ns_ || now.ns - last_.ns < 1'000'000) return;
  before_ = last_;
  last_ = now;
}

std::int64_t TickClock::ns_from_ticks(std::uint64_t ticks) const {
  if (ticks_are_ns_) return static_cast<std::int64_t>(ticks);
  const double rate = static_cast<double>(last_.ns - before_.ns) / static_cast<double>(last_.ticks - before_.ticks);
  const auto since = static_cast<std::int64_t>(ticks - before_.ticks);
  // A hostile job may report any ticks; its times are limited to a year before and after.
  constexpr double farthest = 3.2e16;
  const double ns = static_cast<double>(since) * rate;
  return before_.ns + static_cast<std::int64_t>(ns > farthest ? farthest : ns < -farthest ? -farthest : ns);
}

std::uint64_t TickClock::ticks_from_ns(std::int64_t ns) const {
  if (ticks_are_ns_) return static_cast<std::uint64_t>(ns);
  const double rate = static_cast<double>(last_.ticks - before_.ticks) / static_cast<double>(last_.ns - before_.ns);
  return before_.ticks +
         static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<double>(ns - before_.ns) * rate));
}

}  // namespace hbmscope::serve
