#include "allocator/reference/interface/allocator.h"

#include <limits>

#include "allocator/reference/interface/fragmentation.h"

namespace hbmscope::allocator {

std::string_view text_from_certainty(Certainty certainty) {
  constexpr std::string_view texts[] = {"exact", "checked", "reconstructed", "unverified", "approximate"};
  return texts[static_cast<std::size_t>(certainty)];
}

std::string_view text_from_fault(Fault fault) {
  switch (fault) {
    case Fault::none: return {};
    case Fault::second_gap: return "the process aborts: spatial partitioning expects one central gap";
    case Fault::endless_backpedal:
      return "the process hangs: the driver is full, and nine tenths of at most 2,304 B are the same size again";
    case Fault::endless_growth: return "the process hangs: the size of the next region was doubled beyond 64 bits";
    case Fault::bad_region: return "the process aborts: a region that is no multiple of 256 B";
    case Fault::bad_alignment: return "the process aborts: an alignment that is no power of two";
  }
  return {};
}

double fragmentation_of(const Statistics& statistics) {
  const std::uint64_t free = statistics.pool_bytes - statistics.in_use_bytes;
  return external_fragmentation_of(free, statistics.largest_free_bytes)
      .value_or(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace hbmscope::allocator
