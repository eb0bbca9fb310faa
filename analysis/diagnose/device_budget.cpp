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
                             free ? "not tracked (contexts, code, the driver's rounding, other processes)"
                                  : "not tracked (contexts, code, other processes, free)",
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
  // The total of a device that shares the memory of the host is what it has for itself.
  if (time.free_bytes && *time.free_bytes > *total) return std::nullopt;
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
  budget.add(BudgetPart::requested, knows_requested ? "in use in the pool, without rounding" : "in use in the pool",
             requested);
  budget.add(BudgetPart::rounding, "rounding", rounding);
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
      budget.add(BudgetPart::outside,
                 process.is_certain || process.is_alike ? "this process, outside the pool"
                                                        : process.name + ", most likely this one, outside the pool",
                 process.bytes - std::min(pool, process.bytes));
    else
      budget.add(BudgetPart::process, process.name, process.bytes);
    budget.tolerate(printed_error);
  }
  return budget.close(time.free_bytes);
}

std::vector<NamedProcess> find_named_processes(const FailureRow& row, std::optional<std::uint64_t> device_bytes) {
  std::vector<NamedProcess> found;
  bool has_own = false;
  std::uint64_t sum = row.available_bytes.value_or(0);
  for (const auto& [key, value] : row.details) {
    const bool is_own = key == "this process";
    if (!is_own && !key.starts_with("process ")) continue;
    const auto bytes = parse_bytes(value);
    if (!bytes || *bytes <= 0) continue;
    found.push_back({key, static_cast<std::uint64_t>(*bytes), is_own});
    has_own = has_own || is_own;
    sum = clamped_sum(sum, found.back().bytes);
  }
  // The own process is in the driver's list, so it is the one that can hold the pool, if nothing else is on the device.
  const auto pool = row.pool_bytes ? row.pool_bytes : row.used_bytes;
  if (has_own || !pool || !device_bytes || !row.available_bytes || sum < *device_bytes - *device_bytes / 50)
    return found;
  std::vector<NamedProcess*> able;  // To hold the pool: the smallest first.
  for (NamedProcess& one : found)
    if (one.bytes >= *pool - *pool / 100) able.push_back(&one);
  if (able.empty()) return found;
  std::stable_sort(able.begin(), able.end(), [](const auto* a, const auto* b) { return a->bytes < b->bytes; });
  constexpr std::uint64_t alike_part = 20, context_max = std::uint64_t{4} << 30;
  NamedProcess& own = *able.front();
  if (able.size() > 1 && own.bytes > clamped_sum(*pool, context_max)) return found;  // None is like the pool.
  own.is_own = true;
  own.is_certain = false;
  const std::uint64_t most = own.bytes + own.bytes / alike_part;
  if (able.size() > 1 && able[1]->bytes <= most)
    for (NamedProcess* one : able) one->is_alike = one->bytes <= most;
  return found;
}

std::optional<HeldElsewhere> find_held_elsewhere(const FailureRow& row, std::optional<std::uint64_t> device_bytes) {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30, part = 8;
  const std::uint64_t context_max = device_bytes ? std::clamp(*device_bytes / part, gib / 2, gib) : gib;
  if (!row.line) return std::nullopt;
  HeldElsewhere found;
  std::optional<std::uint64_t> own;
  for (NamedProcess& one : find_named_processes(row, device_bytes)) {
    if (one.is_own) {
      own = one.bytes;
    } else if (!device_bytes || one.bytes <= *device_bytes) {
      found.bytes = clamped_sum(found.bytes, one.bytes);
      found.processes.push_back(std::move(one));
    }
  }
  std::stable_sort(found.processes.begin(), found.processes.end(),
                   [](const NamedProcess& a, const NamedProcess& b) { return a.bytes > b.bytes; });
  for (const auto& [key, value] : row.details)
    if (const auto bytes = key == "other allocations" ? parse_bytes(value) : Result<std::int64_t>(0);
        bytes && *bytes > 0)
      return HeldElsewhere{static_cast<std::uint64_t>(*bytes), {}};
  // A text that ends before it says what is its own.
  if (!own && !row.pool_bytes && !row.used_bytes && found.processes.size() == 1) return std::nullopt;
  if (!found.processes.empty()) return found;
  if (!device_bytes || !row.available_bytes) return std::nullopt;
  // An engine that checks the device at its start holds nothing yet.
  const bool holds_nothing = row.allocator == "vLLM";
  const auto pool = row.pool_bytes ? row.pool_bytes : row.used_bytes;
  if (!own && !pool && !holds_nothing) return std::nullopt;
  const std::uint64_t known =
      clamped_sum(*row.available_bytes, own             ? *own
                                        : holds_nothing ? 0
                                                        : clamped_sum(pool.value_or(0), context_max));
  if (known >= *device_bytes) return std::nullopt;
  found.bytes = *device_bytes - known;
  return found;
}

}  // namespace hbmscope
