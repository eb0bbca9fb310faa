#include "analysis/trace/common_zero.h"

#include <algorithm>

namespace hbmscope {
namespace {

// The time on the clock of `to`; nothing if the two have no clock in common.
std::optional<std::int64_t> related_time(const Stream& from, std::int64_t time_ns, const Stream& to) {
  if (const auto related = from.clocks().time_on(to.clocks(), time_ns)) return related;
  const bool overlaps = from.first_time_ns() <= to.last_time_ns() && to.first_time_ns() <= from.last_time_ns();
  return overlaps ? std::optional(time_ns) : std::nullopt;
}

}  // namespace

void share_zero(Trace& trace) {
  // The earliest event of those that are related to the first stream that is not placed yet, and so on for the rest.
  std::vector<Stream*> unplaced;
  for (Stream& stream : trace.streams)
    if (stream.has_times()) unplaced.push_back(&stream);
  while (!unplaced.empty()) {
    const Stream& reference = *unplaced.front();
    std::int64_t zero_ns = reference.first_time_ns();
    const auto related_end = std::stable_partition(unplaced.begin(), unplaced.end(), [&](const Stream* one) {
      return one == &reference || related_time(*one, one->first_time_ns(), reference).has_value();
    });
    for (auto one = unplaced.begin(); one != related_end; ++one)
      zero_ns = std::min(zero_ns, related_time(**one, (*one)->first_time_ns(), reference).value_or(zero_ns));
    for (auto one = unplaced.begin(); one != related_end; ++one) {
      const bool is_reference = *one == &reference;
      (*one)->set_zero(is_reference ? zero_ns
                                    : related_time(reference, zero_ns, **one).value_or((*one)->first_time_ns()));
    }
    unplaced.erase(unplaced.begin(), related_end);
  }
}

}  // namespace hbmscope
