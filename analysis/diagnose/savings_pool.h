// By how much the pool would be smaller at its peak without the allocations of a site: the bytes in use may fall, and
// the pool still need as much, because of fragmentation, or because it keeps what it once had.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/diagnose/savings.h"
#include "analysis/whatif/what_if.h"

namespace hbmscope {

// The requests to the device of a heap, where the pool can be replayed: PyTorch's on a device of any size, XLA's only
// where its limit or the device is known. Errors: those of find_what_if_source, or neither is.
Result<WhatIfSource> find_pool_source(const Trace& trace, HeapKey heap);

struct PoolSavings {
  std::uint64_t peak_pool_bytes = 0;  // In the replay with all requests.
  Confidence confidence = Confidence::approximate;
  std::vector<std::int64_t> saves_bytes;  // By site, in the order of the given ones. Below 0: it would be larger.
};

// Replays all requests to the heap's device under the job's own settings, and once more without each of the first
// `count` sites. Nothing if the job's allocator is not known, if a request is refused, if it was cancelled, for
// categories, and for more than five million operations.
std::optional<PoolSavings> compute_pool_savings(const Trace& trace, HeapKey heap, SiteBy by,
                                                const std::vector<SiteSaving>& sites, std::size_t count,
                                                PassControl& control);

}  // namespace hbmscope
