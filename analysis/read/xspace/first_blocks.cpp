#include "analysis/read/xspace/first_blocks.h"

#include <algorithm>
#include <optional>

#include "collector/wire/live_table.h"

namespace hbmscope::xspace {
namespace {

class Finder {
 public:
  Finder(const MemoryEvents& events, const Chain& chain, std::size_t allocators)
      : events_(events), chain_(chain), at_start_(allocators), gaps_of_(allocators) {
    found_.unnamed_bytes.resize(allocators);
    found_.in_gaps.resize(chain.gaps.size());
  }

  FirstBlocks find() {
    find_unmatched_frees();
    std::size_t gap = 0;
    for (const UnmatchedFree& each : unmatched_) {
      for (; gap < chain_.gaps.size() && chain_.gaps[gap].before <= each.place; ++gap) note_gap(gap);
      take(each);
    }
    for (; gap < chain_.gaps.size(); ++gap) note_gap(gap);
    note_starts();
    for (std::size_t i = 0; i < at_start_.size(); ++i)
      if (at_start_[i] && *at_start_[i] > older_[i]) found_.unnamed_bytes[i] = *at_start_[i] - older_[i];
    return std::move(found_);
  }

 private:
  struct UnmatchedFree {
    std::uint32_t place = 0;       // In the order of events.
    bool has_predecessor = false;  // An earlier event has its address.
  };

  const MemoryEvent& event_at(std::size_t place) const { return events_[chain_.order[place]]; }

  // Frees before which their block was not live. Walks backwards with the frees that still lack their allocation, so
  // one pass finds both those that stay without one and those whose address an earlier event has.
  void find_unmatched_frees() {
    wire::LiveTable waiting;
    std::vector<std::uint32_t> places;  // Where the waiting frees are, by slot.
    // The table waits for memory most of the time.
    constexpr std::size_t expected_ahead = 8;
    for (std::size_t place = events_.size(); place-- > 0;) {
      if (place >= MemoryEvents::prefetched_ahead)
        events_.prefetch(chain_.order[place - MemoryEvents::prefetched_ahead]);
      if (place >= expected_ahead) {
        const MemoryEvent& later = event_at(place - expected_ahead);
        waiting.prefetch(later.allocator, later.address);
      }
      const MemoryEvent& event = event_at(place);
      found_.address_last = std::max(found_.address_last, event.address);
      if (!event.is_free) {
        waiting.give_back(event.allocator, event.address);
        continue;
      }
      const auto [slot, was_waiting] = waiting.take(event.allocator, event.address);
      if (was_waiting) unmatched_.push_back({places[slot], true});
      if (slot >= places.size()) places.resize(slot + 1);
      places[slot] = static_cast<std::uint32_t>(place);
    }
    waiting.for_each_taken([&](std::uint32_t slot) { unmatched_.push_back({places[slot], false}); });
    std::sort(unmatched_.begin(), unmatched_.end(),
              [](const UnmatchedFree& a, const UnmatchedFree& b) { return a.place < b.place; });
  }

  void note_gap(std::size_t number) {
    const Gap& gap = chain_.gaps[number];
    if (gap.change_bytes <= 0) return;  // More was freed than allocated; which blocks, nobody knows.
    found_.in_gaps[number].unnamed_bytes = static_cast<std::uint64_t>(gap.change_bytes);
    gaps_of_[event_at(gap.before).allocator].push_back(number);
  }

  void take(const UnmatchedFree& free) {
    const MemoryEvent& event = event_at(free.place);
    const FirstBlock block{event.address, event.size, event.requested, event.allocator};
    if (put_into_gap(block) || free.has_predecessor) return;
    found_.blocks.push_back(block);
    older_[event.allocator] += block.size;
  }

  void note_starts() {
    std::size_t unknown = at_start_.size();
    for (std::size_t place = 0; place < events_.size() && unknown > 0; ++place)
      if (note_start(event_at(place))) --unknown;
  }

  // What was in use before the first event that reports it, without the changes of those before it. True if this is
  // the one.
  bool note_start(const MemoryEvent& event) {
    std::uint64_t& change = change_[event.allocator];
    if (at_start_[event.allocator]) return false;
    if (event.in_use != wire::unknown_bytes) {
      const std::uint64_t bytes = in_use_before(event) - change;
      constexpr std::uint64_t sign = std::uint64_t{1} << 63;
      at_start_[event.allocator] = bytes < sign ? bytes : 0;
      return true;
    }
    change += event.is_free ? -event.size : event.size;
    return false;
  }

  // The last one into which it fits.
  bool put_into_gap(const FirstBlock& block) {
    std::vector<std::size_t>& gaps = gaps_of_[block.allocator];
    for (std::size_t i = gaps.size(); i-- > 0;) {
      FirstBlocks::InGap& gap = found_.in_gaps[gaps[i]];
      if (gap.unnamed_bytes < block.size) continue;
      gap.unnamed_bytes -= block.size;
      gap.blocks.push_back(block);
      if (gap.unnamed_bytes == 0) gaps.erase(gaps.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }

  const MemoryEvents& events_;
  const Chain& chain_;
  std::vector<std::optional<std::uint64_t>> at_start_;  // By allocator: in use when the profile began.
  std::vector<std::vector<std::size_t>> gaps_of_;       // By allocator: gaps with bytes of which no block is known.
  std::vector<std::uint64_t> change_ = std::vector<std::uint64_t>(at_start_.size());
  std::vector<std::uint64_t> older_ = std::vector<std::uint64_t>(at_start_.size());
  std::vector<UnmatchedFree> unmatched_;
  FirstBlocks found_;
};

}  // namespace

FirstBlocks find_first_blocks(const MemoryEvents& events, const Chain& chain, std::size_t allocators) {
  return Finder(events, chain, allocators).find();
}

}  // namespace hbmscope::xspace
