// Words that all of the model shares.
#pragma once

#include <cstdint>

#include "allocator/emulated/accounts/accounts.h"

namespace hbmscope::device {

using Address = std::uint64_t;  // Device, host and managed memory are in one address space, as with unified addressing.

// The driver's unit of physical memory, unless a setting changes it: what cuMemGetAllocationGranularity reports for
// device memory.
inline constexpr Bytes granularity_bytes = Bytes{2} << 20;

enum class Outcome {
  ok,
  out_of_memory,  // The request does not fit; nothing has changed.
  invalid,        // The caller named something that does not exist, or a size of 0; nothing has changed.
};

struct Answer {
  Outcome outcome = Outcome::ok;
  Address address = 0;  // Meaningful if ok.
};

constexpr Bytes round_up(Bytes bytes, Bytes unit) {
  return (bytes + unit - 1) / unit * unit;
}
constexpr Bytes round_down(Bytes bytes, Bytes unit) {
  return bytes / unit * unit;
}

}  // namespace hbmscope::device
