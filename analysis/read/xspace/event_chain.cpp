#include "analysis/read/xspace/event_chain.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace hbmscope::xspace {
namespace {

// How far an event may be from its place in the chain. Threads take their times while they hold the allocator's lock,
// so only equal times need it, and clocks of processors that differ a little.
constexpr std::size_t reach = 16;
constexpr std::int64_t reach_ns = 10'000;

// The events of one allocator that report what was in use, as places in the order of all events.
class Link {
 public:
  Link(std::deque<MemoryEvent>& events, Chain& chain, const std::vector<std::uint32_t>& places)
      : events_(events), chain_(chain), places_(places) {}

  void follow() {
    std::optional<std::uint64_t> expected;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      ++chain_.checked;
      const std::size_t next = expected ? find(i, *expected) : i;
      if (next == places_.size())
        chain_.gaps.push_back({places_[i], static_cast<std::int64_t>(in_use_before(at(i)) - *expected)});
      else if (next > i)
        move(next, i);
      expected = at(i).in_use;
    }
  }

 private:
  MemoryEvent& at(std::size_t i) { return events_[chain_.order[places_[i]]]; }

  // From `i` on, the first that found `expected` bytes in use; places_.size(): none is near.
  std::size_t find(std::size_t i, std::uint64_t expected) {
    const std::size_t end = std::min(places_.size(), i + reach);
    const std::int64_t first_ns = at(i).time_ns;
    for (std::size_t next = i; next < end; ++next) {
      if (in_use_before(at(next)) == expected) return next;
      if (at(next).time_ns - first_ns > reach_ns) break;
    }
    return places_.size();
  }

  void move(std::size_t from, std::size_t to) {
    ++chain_.reordered;
    const std::int64_t time_ns = at(to).time_ns;
    for (std::size_t i = from; i > to; --i) std::swap(chain_.order[places_[i]], chain_.order[places_[i - 1]]);
    at(to).time_ns = time_ns;
  }

  std::deque<MemoryEvent>& events_;
  Chain& chain_;
  const std::vector<std::uint32_t>& places_;
};

// At equal times, in the order of lines.
std::vector<std::uint32_t> order_of_times(const std::deque<MemoryEvent>& events) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> times;
  times.reserve(events.size());
  for (const MemoryEvent& event : events) times.emplace_back(event.time_ns, static_cast<std::uint32_t>(times.size()));
  std::sort(times.begin(), times.end());
  std::vector<std::uint32_t> order(times.size());
  std::transform(times.begin(), times.end(), order.begin(), [](const auto& each) { return each.second; });
  return order;
}

}  // namespace

Chain order_events(std::deque<MemoryEvent>& events, std::size_t allocators) {
  Chain chain;
  chain.order = order_of_times(events);
  std::vector<std::vector<std::uint32_t>> places(allocators);
  for (std::uint32_t i = 0; i < chain.order.size(); ++i)
    if (const MemoryEvent& event = events[chain.order[i]]; event.in_use != wire::unknown_bytes)
      places[event.allocator].push_back(i);
  for (const std::vector<std::uint32_t>& own : places) Link(events, chain, own).follow();
  std::sort(chain.gaps.begin(), chain.gaps.end(), [](const Gap& a, const Gap& b) { return a.before < b.before; });
  return chain;
}

}  // namespace hbmscope::xspace
