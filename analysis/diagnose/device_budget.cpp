#include "analysis/diagnose/device_budget.h"

#include <algorithm>

#include "analysis/model/clamped.h"
#include "analysis/query/device_account.h"
#include "analysis/query/heap_rows.h"
#include "analysis/trace/layers.h"

namespace hbmscope {
namespace {

class Budget {
 public:
  explicit Budget(std::uint64_t total) { found_.total_bytes = total; }

  // Figures that were printed with two decimals may be too high by this much together.
  void tolerate(std::uint64_t bytes) { tolerance_ += bytes; }
  void add(BudgetPart part, std::string name, std::uint64_t bytes) {
    if (bytes == 0) return;
    sum_ = clamped_sum(sum_, bytes);
    found_.rows.push_back({part, std::move(name), bytes, false});
  }
  // Before the free memory, which comes last.
  DeviceBudget close(std::optional<std::uint64_t> free) {
    const std::uint64_t explained = clamped_sum(sum_, free.value_or(0));
    if (explained < found_.total_bytes)
      found_.rows.push_back({BudgetPart::unseen,
                             free ? "contexts, code, the driver's rounding, other processes, and what is not recorded"
                                  : "free, contexts, code, other processes, and what is not recorded",
                             found_.total_bytes - explained, true});
    else if (explained - found_.total_bytes > tolerance_)
      found_.over_bytes = explained - found_.total_bytes;
    add(BudgetPart::free, "free on the device", free.value_or(0));
    return std::move(found_);
  }

 private:
  DeviceBudget found_;
  std::uint64_t sum_ = 0, tolerance_ = 0;
};

}  // namespace

std::string_view text_from_part(BudgetPart part) {
  switch (part) {
    case BudgetPart::requested: return "requested";
    case BudgetPart::rounding: return "rounding";
    case BudgetPart::pool_free: return "pool_free";
    case BudgetPart::outside: return "outside";
    case BudgetPart::process: return "process";
    case BudgetPart::kept: return "kept";
    case BudgetPart::unseen: return "unseen";
    case BudgetPart::free: return "free";
  }
  return "unseen";
}

std::optional<DeviceBudget> find_device_budget(const Trace& trace, const std::vector<StreamState>& states,
                                               const DeviceTime& time) {
  const std::size_t stream = time.stream;
  const HeapInfo& shown = trace.streams[stream].definitions().heap(time.heap);
  const auto total = find_device_bytes(trace.streams[stream], time.heap, time.position);
  const bool is_of_device = !is_host_kind(shown.memory_kind) && shown.device != wire::no_device;
  if (!total || !is_of_device || shown.layer == wire::Layer::physical) return std::nullopt;
  std::uint64_t requested = 0, rounding = 0, free = 0;
  bool has_pool = false, knows_requested = true;
  for (const HeapRow& row : compute_heap_rows(trace, states)) {
    const bool is_pool = row.is_inside_of_driver || (row.stream == stream && row.heap == time.heap);
    if (row.stream != stream || row.device != shown.device || is_host_kind(row.memory_kind) || !is_pool) continue;
    if (!row.pool_bytes || row.is_in_use_unknown) return std::nullopt;
    has_pool = true;
    const std::uint64_t in_requests = std::min(row.requested_bytes.value_or(row.in_use_bytes), row.in_use_bytes);
    knows_requested = knows_requested && row.requested_bytes.has_value();
    requested = clamped_sum(requested, in_requests);
    rounding = clamped_sum(rounding, row.in_use_bytes - in_requests);
    free = clamped_sum(free, *row.pool_bytes - std::min(*row.pool_bytes, row.in_use_bytes));
  }
  if (!has_pool) return std::nullopt;
  Budget budget(*total);
  budget.add(BudgetPart::requested, knows_requested ? "requested and in use in the pool" : "in use in the pool",
             requested);
  budget.add(BudgetPart::rounding, "rounding of its blocks", rounding);
  budget.add(BudgetPart::pool_free, "free in the pool", free);
  for (const DeviceAccount& account : find_device_accounts(trace, states)) {
    if (account.stream != stream || account.device != shown.device) continue;
    for (const OwnerBytes& owner : account.owners)
      budget.add(BudgetPart::outside, "outside the pool: " + owner.owner, owner.bytes);
    budget.add(BudgetPart::kept, "kept by the driver's memory pools", account.kept_bytes);
  }
  const std::uint64_t pool = clamped_sum(clamped_sum(requested, rounding), free);
  constexpr std::uint64_t printed_error = 6 << 20;  // Half of 0.01 GiB, and some for the unit's rounding.
  for (const NamedProcess& process : time.processes) {
    if (process.bytes > *total) continue;
    if (process.is_own)
      budget.add(BudgetPart::outside, "this process, outside the pool", process.bytes - std::min(pool, process.bytes));
    else
      budget.add(BudgetPart::process, process.name, process.bytes);
    budget.tolerate(printed_error);
  }
  return budget.close(time.free_bytes);
}

std::vector<NamedProcess> find_named_processes(const FailureRow& row) {
  std::vector<NamedProcess> found;
  for (const auto& [key, value] : row.details) {
    const bool is_own = key == "this process";
    if (!is_own && !key.starts_with("process ")) continue;
    if (const auto bytes = parse_bytes(value); bytes && *bytes > 0)
      found.push_back({key, static_cast<std::uint64_t>(*bytes), is_own});
  }
  return found;
}

}  // namespace hbmscope
