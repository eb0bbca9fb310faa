// Why a pool is larger than what the program requested, rule by rule: the reference allocator replays the requests with
// the allocator's rules lifted, one after the other, and each rule costs what the pool shrinks by.
//
// A pool of 8.00 GiB in which 6.00 GiB is requested: without segments that are merely kept it is 7.10 GiB, without
// unsplit remainders too 6.80 GiB, without rounding too 6.75 GiB. So kept memory costs 0.90 GiB, remainders 0.30 GiB,
// rounding 0.05 GiB, and the rest, 0.75 GiB, is true fragmentation: free memory between blocks and at the ends of their
// segments. The parts add up. Each rule is also lifted alone; alone it may save nothing, because the pool then keeps
// the difference.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/whatif/what_if.h"

namespace hbmscope {

// In the order in which the rules are lifted (allocator/reference/interface/lifted_rules.h); fragmentation is what is
// left.
enum class PoolCost : std::uint8_t {
  kept,           // By the pool, instead of being given back at once: cached segments, the end of a preallocated pool.
  pending,        // Freed by the program, but other streams were still using it.
  private_pools,  // Pools of graphs and MemPools: their free blocks serve nobody else.
  other_streams,  // Free blocks of one stream don't serve another one.
  wrong_end,      // Free blocks at one end of the pool don't serve the other memory space.
  unsplit,        // The rest of a block that was too small to be split off.
  rounding,       // Requests are rounded up to the step of the allocator.
  fragmentation,  // What is left without all these rules.
};
std::string_view text_from_pool_cost(PoolCost cost);  // "unsplit remainders"
std::string_view name_from_pool_cost(PoolCost cost);  // For JSON: "unsplit"
std::string_view explanation_of(PoolCost cost);       // A sentence.

struct PoolCostPart {
  PoolCost cost = PoolCost::fragmentation;
  std::int64_t bytes = 0;        // Below 0: without the rule the pool is larger.
  std::int64_t alone_bytes = 0;  // Lifted alone. Not of fragmentation.
};

// At one time.
struct PoolCosts {
  std::uint64_t position = 0;  // The number of events before it.
  // When the last request or free was, since the stream began. Absent if there was none, or no times.
  std::optional<std::int64_t> since_start_ns;
  std::uint64_t pool_bytes = 0;                      // In the replay under the job's own settings.
  std::uint64_t requested_bytes = 0;                 // In blocks that the program has not freed.
  std::optional<std::uint64_t> recorded_pool_bytes;  // Absent: the source reports no regions.
  // In the order of PoolCost, without rules that can't apply. They add up to pool_bytes - requested_bytes.
  std::vector<PoolCostPart> parts;
  // Checked: the recording replays address for address, its pool was as large as that of the replay, and no replay
  // refused more or fewer requests than another.
  Confidence confidence = Confidence::approximate;
};

// `now` and others, evenly spaced up to `end`; ascending, each once.
std::vector<std::uint64_t> positions_over_time(std::uint64_t end, std::uint64_t now, std::size_t count);

// For all pools of the heap's device together, each after that many events, ascending. Errors: the source has no
// requests, or only lists blocks, its allocator or the size of its device is unknown, or it has more than five million
// events. Empty if it was cancelled.
Result<std::vector<PoolCosts>> compute_pool_costs(const Trace& trace, HeapKey heap,
                                                  std::span<const std::uint64_t> positions, PassControl& control);

}  // namespace hbmscope
