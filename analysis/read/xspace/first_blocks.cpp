#include "analysis/read/xspace/first_blocks.h"

#include <algorithm>
#include <optional>

namespace hbmscope::xspace {
namespace {

class Finder {
 public:
  Finder(const std::deque<MemoryEvent>& events, const Chain& chain, std::size_t allocators)
      : events_(events), chain_(chain), at_start_(allocators), gaps_of_(allocators) {
    found_.unnamed_bytes.resize(allocators);
    found_.in_gaps.resize(chain.gaps.size());
  }

  FirstBlocks find() {
    std::size_t gap = 0;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      for (; gap < chain_.gaps.size() && chain_.gaps[gap].before == i; ++gap) note_gap(gap);
      expect(i + expected_ahead);
      take(events_[chain_.order[i]]);
    }
    for (std::size_t i = 0; i < at_start_.size(); ++i)
      if (at_start_[i] && *at_start_[i] > older_[i]) found_.unnamed_bytes[i] = *at_start_[i] - older_[i];
    return std::move(found_);
  }

 private:
  // The tables wait for memory most of the time.
  static constexpr std::size_t expected_ahead = 8;
  void expect(std::size_t place) const {
    if (place >= events_.size()) return;
    const MemoryEvent& event = events_[chain_.order[place]];
    live_.prefetch(table_key(event.allocator), event.address);
    found_.addresses.prefetch(table_key(event.allocator), event.address);
  }

  void note_gap(std::size_t number) {
    const Gap& gap = chain_.gaps[number];
    if (gap.change_bytes <= 0) return;  // More was freed than allocated; which blocks, nobody knows.
    found_.in_gaps[number].unnamed_bytes = static_cast<std::uint64_t>(gap.change_bytes);
    gaps_of_[events_[chain_.order[gap.before]].allocator].push_back(number);
  }

  void take(const MemoryEvent& event) {
    note_start(event);
    const std::uint32_t key = table_key(event.allocator);
    if (!event.is_free) {
      live_.take(key, event.address);
      found_.addresses.take(key, event.address);
      return;
    }
    if (live_.give_back(key, event.address)) return;
    const FirstBlock block{event.address, event.size, event.requested, event.allocator};
    const auto [slot, was_seen] = found_.addresses.take(key, event.address);
    if (put_into_gap(block)) return;
    if (was_seen) return;  // Neither: the free of an unknown block.
    found_.blocks.push_back(block);
    older_[event.allocator] += block.size;
  }

  // What was in use before the first event that reports it, without the changes of those before it.
  void note_start(const MemoryEvent& event) {
    std::uint64_t& change = change_[event.allocator];
    if (at_start_[event.allocator]) return;
    if (event.in_use != wire::unknown_bytes) {
      const std::uint64_t bytes = in_use_before(event) - change;
      constexpr std::uint64_t sign = std::uint64_t{1} << 63;
      at_start_[event.allocator] = bytes < sign ? bytes : 0;
    }
    change += event.is_free ? -event.size : event.size;
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

  const std::deque<MemoryEvent>& events_;
  const Chain& chain_;
  std::vector<std::optional<std::uint64_t>> at_start_;  // By allocator: in use when the profile began.
  std::vector<std::vector<std::size_t>> gaps_of_;       // By allocator: gaps with bytes of which no block is known.
  std::vector<std::uint64_t> change_ = std::vector<std::uint64_t>(at_start_.size());
  std::vector<std::uint64_t> older_ = std::vector<std::uint64_t>(at_start_.size());
  wire::LiveTable live_;
  FirstBlocks found_;
};

}  // namespace

FirstBlocks find_first_blocks(const std::deque<MemoryEvent>& events, const Chain& chain, std::size_t allocators) {
  return Finder(events, chain, allocators).find();
}

}  // namespace hbmscope::xspace
