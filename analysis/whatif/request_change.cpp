#include "analysis/whatif/request_change.h"

#include <set>
#include <unordered_map>
#include <utility>

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
  // Of one requested size.
  struct Donors {
    std::set<std::pair<std::uint64_t, std::uint64_t>> ending;  // When they are freed, and the request of their memory.
    std::vector<std::uint64_t> lasting;                        // Those that are never freed.
  };
  std::unordered_map<std::uint64_t, Donors> donors;
  for (std::uint64_t i = 0; i < requests.operations.size(); ++i) {
    if (requests.operations[i].is_free) continue;
    Donors& same_size = donors[requests.operations[i].request.bytes];
    same_size.ending.erase(same_size.ending.begin(), same_size.ending.lower_bound({i, 0}));
    std::uint64_t maker = i;
    const auto first = same_size.ending.begin();
    if (first != same_size.ending.end() && (has_failed[i] || first->first < ends[i])) {
      drop(first->first);
      maker = first->second;
      same_size.ending.erase(first);
    } else if (has_failed[i] && !same_size.lasting.empty()) {
      maker = same_size.lasting.front();
      same_size.lasting.erase(same_size.lasting.begin());
    }
    if (maker != i) {
      // Slots are used again after a free, which is now later: the memory gets one of its own.
      if (operations[maker].slot < requests.slots) operations[maker].slot = changed->slots++;
      drop(i);
      if (ends[i] != never) operations[ends[i]].slot = operations[maker].slot;
      ++change.changed;
    }
    if (!is_chosen[i] || (has_failed[i] && maker == i)) continue;
    if (ends[i] == never)
      same_size.lasting.push_back(maker);
    else
      same_size.ending.emplace(ends[i], maker);
  }
  change.requests = std::move(changed);
  return change;
}

}  // namespace hbmscope
