// Where all memory of a device was when a request failed: parts that add up to its total.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/failure_facts.h"
#include "analysis/trace/stream_state.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

enum class BudgetPart : std::uint8_t {
  requested,  // In use in frameworks' pools, without rounding as far as that is known.
  rounding,   // What their blocks have beyond that.
  pool_free,  // Free in these pools.
  outside,    // Allocated from the driver by others, one row for each owner.
  kept,       // By the driver's own memory pools: reserved, and in no block.
  unseen,     // The rest: contexts, loaded code, other processes, and what is not recorded.
  free,       // On the device, as the driver said.
};
std::string_view text_from_part(BudgetPart part);  // "requested"

struct BudgetRow {
  BudgetPart part = BudgetPart::requested;
  std::string name;  // "in use in the pool", "cuBLAS"
  std::uint64_t bytes = 0;
  bool is_derived = false;  // From the others; false: recorded or reported.
};

struct DeviceBudget {
  std::uint64_t total_bytes = 0;
  std::vector<BudgetRow> rows;   // Their sum is total_bytes, but for over_bytes. Rows of 0 bytes are left out.
  std::uint64_t over_bytes = 0;  // More than the total: the sources contradict each other.
};

// `states`: at the failure. Nothing where the device's size, what was free on it, or the pool's size is unknown.
std::optional<DeviceBudget> find_device_budget(const Trace& trace, const std::vector<StreamState>& states,
                                               std::size_t stream, const FailureFacts& facts);

}  // namespace hbmscope
