#include "analysis/read/xspace/event_chain.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace hbmscope::xspace {
namespace {

// How far an event may be from its place in the chain. Threads take their times while they hold the allocator's lock,
// so only equal times need it, and clocks of processors that differ a little.
constexpr std::size_t reach = 16;
constexpr std::int64_t reach_ns = 10'000;

// How many events to look at for those, all allocators together.
constexpr std::size_t look_ahead = 256;

// Follows the chains of all allocators in one pass.
class Follower {
 public:
  Follower(MemoryEvents& events, std::size_t allocators, Chain& chain)
      : events_(events), chain_(chain), left_(allocators) {}

  void follow() {
    for (std::size_t place = 0; place < chain_.order.size(); ++place) {
      if (const std::size_t later = place + MemoryEvents::prefetched_ahead; later < chain_.order.size())
        events_.prefetch(chain_.order[later]);
      const MemoryEvent& event = at(place);
      if (event.in_use == wire::unknown_bytes) continue;
      ++chain_.checked;
      Left& left = left_[event.allocator];
      if (left.is_known && in_use_before(event) != left.in_use) repair(place, left.in_use);
      left = {at(place).in_use, true};
    }
  }

 private:
  struct Left {
    std::uint64_t in_use = 0;  // After the allocator's last event.
    bool is_known = false;
  };

  MemoryEvent& at(std::size_t place) { return events_[chain_.order[place]]; }

  // Moves the event that found `expected` bytes in use to the place; if none is near, events are missing before it.
  void repair(std::size_t place, std::uint64_t expected) {
    if (find_near(place, expected))
      move_to_front();
    else
      chain_.gaps.push_back({place, static_cast<std::int64_t>(in_use_before(at(place)) - expected)});
  }

  // Fills near_ with the places of the allocator's next events, up to the one that found `expected` bytes in use.
  bool find_near(std::size_t place, std::uint64_t expected) {
    near_.clear();
    const std::uint32_t allocator = at(place).allocator;
    const std::int64_t first_ns = at(place).time_ns;
    const std::size_t end = std::min(chain_.order.size(), place + look_ahead);
    for (std::size_t next = place; next < end && near_.size() < reach; ++next) {
      const MemoryEvent& event = at(next);
      if (event.allocator != allocator || event.in_use == wire::unknown_bytes) continue;
      near_.push_back(next);
      if (in_use_before(event) == expected) return true;
      if (event.time_ns - first_ns > reach_ns) return false;
    }
    return false;
  }

  void move_to_front() {
    ++chain_.reordered;
    const std::int64_t time_ns = at(near_.front()).time_ns;
    for (std::size_t i = near_.size() - 1; i > 0; --i) std::swap(chain_.order[near_[i]], chain_.order[near_[i - 1]]);
    at(near_.front()).time_ns = time_ns;
  }

  MemoryEvents& events_;
  Chain& chain_;
  std::vector<Left> left_;  // By allocator.
  std::vector<std::size_t> near_;
};

// Events of one line, in the order of time.
struct Run {
  std::int64_t time_ns = 0;  // The next one's.
  std::uint32_t next = 0, end = 0;

  bool is_before(const Run& other) const {
    return time_ns != other.time_ns ? time_ns < other.time_ns : next < other.next;
  }
};

// In the order of their beginnings in the file.
std::vector<Run> runs_of(const MemoryEvents& events) {
  std::vector<Run> runs;
  std::int64_t last_ns = 0;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const std::int64_t time_ns = events[i].time_ns;
    if (i == 0 || time_ns < last_ns) runs.push_back({time_ns, i, i});
    runs.back().end = i + 1;
    last_ns = time_ns;
  }
  return runs;
}

// Restores a heap whose first run may be too late: none is before its parent.
void sink_first(std::vector<Run>& heap) {
  const Run run = heap.front();
  std::size_t at = 0;
  for (std::size_t child = 1; child < heap.size(); child = 2 * at + 1) {
    if (child + 1 < heap.size() && heap[child + 1].is_before(heap[child])) ++child;
    if (!heap[child].is_before(run)) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = run;
}

// Merges the lines. At equal times, in the order of lines.
std::vector<std::uint32_t> order_of_times(const MemoryEvents& events) {
  std::vector<Run> heap = runs_of(events);
  std::sort(heap.begin(), heap.end(), [](const Run& a, const Run& b) { return a.is_before(b); });
  std::vector<std::uint32_t> order;
  order.reserve(events.size());
  while (!heap.empty()) {
    Run& first = heap.front();
    order.push_back(first.next++);
    if (first.next < first.end) {
      first.time_ns = events[first.next].time_ns;
    } else {
      first = heap.back();
      heap.pop_back();
      if (heap.empty()) break;
    }
    sink_first(heap);
  }
  return order;
}

}  // namespace

Chain order_events(MemoryEvents& events, std::size_t allocators) {
  Chain chain;
  chain.order = order_of_times(events);
  Follower(events, allocators, chain).follow();
  return chain;
}

}  // namespace hbmscope::xspace
