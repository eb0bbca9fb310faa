// The allocation times of live blocks by allocation id, as a pass over a stream collects them: 24 bytes per block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/heap/address_table.h"
#include "analysis/trace/stream_state.h"

namespace hbmscope {

class AllocationTimes {
 public:
  // `state` must be the one just after the allocation.
  void add(std::uint64_t event, std::int64_t time_ns, const StreamState& state) {
    if (index_.size() >= prune_at_) prune(state);
    std::uint32_t place = 0;
    if (unused_.empty()) {
      place = static_cast<std::uint32_t>(times_.size());
      times_.push_back(time_ns);
    } else {
      place = unused_.back();
      unused_.pop_back();
      times_[place] = time_ns;
    }
    index_.insert(event, place);
  }

  std::optional<std::int64_t> find(std::uint64_t event) const {
    const std::uint32_t place = index_.value(index_.find(event));
    return place == AddressTable::none ? std::nullopt : std::optional(times_[place]);
  }

  // Returns the time and removes the entry.
  std::optional<std::int64_t> take(std::uint64_t event) {
    const AddressTable::Slot slot = index_.find(event);
    const std::uint32_t place = index_.value(slot);
    if (place == AddressTable::none) return std::nullopt;
    index_.erase_at(slot);
    unused_.push_back(place);
    return times_[place];
  }

 private:
  // Blocks that disappear with their heap are never freed; each time the table has doubled, this removes them.
  void prune(const StreamState& state) {
    AllocationTimes kept;
    for (const LiveBlock& block : state.slots())
      if (const auto time_ns = block.is_live() ? find(block.event) : std::nullopt) {
        kept.index_.insert(block.event, static_cast<std::uint32_t>(kept.times_.size()));
        kept.times_.push_back(*time_ns);
      }
    kept.prune_at_ = std::max<std::size_t>(prune_at_, 2 * kept.times_.size());
    *this = std::move(kept);
  }

  AddressTable index_;
  std::vector<std::int64_t> times_;
  std::vector<std::uint32_t> unused_;  // Places in times_.
  std::size_t prune_at_ = 65'536;
};

}  // namespace hbmscope
