#include "analysis/whatif/request_change.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace hbmscope {
namespace {

using allocator::Operation;

constexpr std::uint64_t never = ~std::uint64_t{0};

// The operation that frees the block of each request; `never`: none does, or it is a free.
std::vector<std::uint64_t> ends_of(const allocator::RequestStream& requests) {
  std::vector<std::uint64_t> ends(requests.operations.size(), never), taken_at(requests.slots, never);
  for (std::uint64_t i = 0; i < requests.operations.size(); ++i) {
    const Operation& operation = requests.operations[i];
    std::uint64_t& at = taken_at[operation.slot];
    if (operation.is_free && at != never) ends[at] = i;
    at = operation.is_free ? never : i;
  }
  return ends;
}

}  // namespace

RequestChange free_before_next(const allocator::RequestStream& requests, const std::vector<bool>& is_chosen) {
  const std::vector<std::uint64_t> ends = ends_of(requests);
  RequestChange change;
  std::vector<std::uint64_t> earlier, together;  // Requests whose blocks are there.
  for (std::uint64_t i = 0; i < requests.operations.size(); ++i) {
    if (requests.operations[i].is_free) continue;
    if (!is_chosen[i]) {
      earlier.insert(earlier.end(), together.begin(), together.end());
      together.clear();
      continue;
    }
    for (const std::uint64_t request : earlier) {
      if (ends[request] < i) continue;
      change.early_frees.push_back({i, requests.operations[request].slot});
      ++change.changed;
    }
    earlier.clear();
    together.push_back(i);
  }
  return change;
}

RequestChange donate(const allocator::RequestStream& requests, const std::vector<bool>& is_chosen,
                     std::span<const std::uint64_t> failed) {
  std::vector<std::uint64_t> ends = ends_of(requests);
  std::vector<bool> has_failed(ends.size());
  for (const std::uint64_t operation : failed) {
    has_failed[operation] = true;
    ends[operation] = never;  // It was freed at once, as it got nothing.
  }
  auto changed = std::make_shared<allocator::RequestStream>(requests);
  std::vector<Operation>& operations = changed->operations;
  RequestChange change;
  const std::uint32_t nothing = changed->slots++;  // A slot that never holds anything.
  const auto drop = [&](std::uint64_t operation) {
    if (operation == never) return;
    operations[operation] = {};
    operations[operation].is_free = true;
    operations[operation].slot = nothing;
  };
  struct Donor {
    std::uint64_t end = never;  // When it is freed, if nobody takes it.
    std::uint64_t request = 0;  // That made the memory, maybe for an earlier donor.
  };
  std::unordered_map<std::uint64_t, std::deque<Donor>> donors;  // By requested size, oldest first.
  for (std::uint64_t i = 0; i < requests.operations.size(); ++i) {
    if (requests.operations[i].is_free) continue;
    std::deque<Donor>& same_size = donors[requests.operations[i].request.bytes];
    while (!same_size.empty() && same_size.front().end < i) same_size.pop_front();
    const auto donor = std::find_if(same_size.begin(), same_size.end(), [&](const Donor& one) {
      return one.end > i && (has_failed[i] || (one.end != never && one.end < ends[i]));
    });
    std::uint64_t maker = i;
    if (donor != same_size.end()) {
      maker = donor->request;
      // Slots are used again after a free, which is now later: the memory gets one of its own.
      if (operations[maker].slot < requests.slots) operations[maker].slot = changed->slots++;
      drop(i);
      drop(donor->end);
      if (ends[i] != never) operations[ends[i]].slot = operations[maker].slot;
      same_size.erase(donor);
      ++change.changed;
    }
    if (is_chosen[i]) same_size.push_back({ends[i], maker});
  }
  change.requests = std::move(changed);
  return change;
}

}  // namespace hbmscope
