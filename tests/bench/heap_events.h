// A stream of allocations and frees in a heap, for the benchmarks: forty hot sizes and a tail, placed by best fit. The
// number of live blocks moves between two thirds and four thirds of its mean. With a mean of 15,000 the heap has 64
// GiB; with more blocks it has more.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace hbmscope::bench {

using std::uint32_t;
using std::uint64_t;

constexpr uint32_t none = 0xffffffff;
constexpr std::size_t usual_live = 15'000;

constexpr uint64_t heap_bytes_for(std::size_t live) {
  return (uint64_t{64} << 30) * std::max<uint64_t>(1, (live + usual_live - 1) / usual_live);
}
// Entries of a hash table that holds that many live blocks with room to spare.
constexpr std::size_t table_entries_for(std::size_t live) {
  return std::bit_ceil(live * 4);
}

// A block is freed by its row in the caller's table, as a reader of traces does. Rows are assigned like slots: the one
// freed last, otherwise the next new one.
struct Event {
  uint64_t address;
  uint32_t row;
  uint32_t size_256;  // In units of 256 bytes; 0: freed.
};

class Maps {
 public:
  explicit Maps(uint64_t heap_bytes) { add(0, heap_bytes); }

  uint32_t take(uint64_t address, uint64_t size) {
    const auto found = free_.find(address);
    const uint64_t whole = found->second;
    sizes_.erase({whole, address});
    free_.erase(found);
    if (whole > size) add(address + size, whole - size);
    return 0;
  }
  // Best fit, the lowest of equals: this makes the stream.
  uint64_t best_fit(uint64_t size) const {
    const auto found = sizes_.lower_bound({size, 0});
    return found == sizes_.end() ? ~uint64_t{0} : found->second;
  }
  void give_back(uint64_t address, uint64_t size) {
    auto after = free_.lower_bound(address);
    if (after != free_.end() && after->first == address + size) {
      size += after->second;
      sizes_.erase({after->second, after->first});
      after = free_.erase(after);
    }
    if (after != free_.begin()) {
      const auto before = std::prev(after);
      if (before->first + before->second == address) {
        address = before->first;
        size += before->second;
        sizes_.erase({before->second, before->first});
        free_.erase(before);
      }
    }
    add(address, size);
  }
  uint64_t largest() const { return sizes_.empty() ? 0 : sizes_.rbegin()->first; }
  std::size_t gaps() const { return free_.size(); }

 private:
  void add(uint64_t address, uint64_t size) {
    free_.emplace(address, size);
    sizes_.emplace(size, address);
  }
  std::map<uint64_t, uint64_t> free_;
  std::set<std::pair<uint64_t, uint64_t>> sizes_;
};

inline std::vector<Event> make_events(std::size_t count, std::size_t mean_live = usual_live) {
  std::mt19937_64 random(20261121);
  std::vector<uint32_t> hot;
  hot.reserve(40);
  for (int i = 0; i < 40; ++i)
    hot.push_back(static_cast<uint32_t>(1 + (uint64_t{1} << (random() % 15)) * (random() % 3 + 1)));
  struct Live {
    uint64_t address, size;
  };
  std::vector<Live> table(mean_live * 2);
  std::vector<uint32_t> live, unused;
  for (uint32_t row = static_cast<uint32_t>(table.size()); row-- > 0;) unused.push_back(row);
  Maps heap(heap_bytes_for(mean_live));
  std::vector<Event> events;
  events.reserve(count);
  double live_sum = 0, gap_sum = 0;
  while (events.size() < count) {
    // Up and down several times in a million events, unless there are many more blocks than that.
    const std::size_t low = mean_live * 2 / 3, swing = mean_live * 2 / 3;
    const std::size_t phase = events.size() / 20 % (2 * swing);
    const std::size_t wanted = low + (phase < swing ? phase : 2 * swing - phase);
    if (live.size() < wanted + random() % 2) {
      const uint64_t size_256 =
          random() % 10 < 9 ? hot[random() % hot.size()] : 1 + (random() % 65'536 >> random() % 16);
      const uint64_t address = heap.best_fit(size_256 * 256);
      if (address == ~uint64_t{0}) std::abort();
      heap.take(address, size_256 * 256);
      const uint32_t row = unused.back();
      unused.pop_back();
      table[row] = {address, size_256 * 256};
      live.push_back(row);
      events.push_back({address, row, static_cast<uint32_t>(size_256)});
    } else {
      std::swap(live[random() % live.size()], live.back());
      const uint32_t row = live.back();
      live.pop_back();
      unused.push_back(row);
      heap.give_back(table[row].address, table[row].size);
      events.push_back({table[row].address, row, 0});
    }
    live_sum += static_cast<double>(live.size());
    gap_sum += static_cast<double>(heap.gaps());
  }
  std::printf("%zu events, %.0f live and %.0f free on average\n", events.size(), live_sum / static_cast<double>(count),
              gap_sum / static_cast<double>(count));
  return events;
}

}  // namespace hbmscope::bench
