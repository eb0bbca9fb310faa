// What the state of a heap costs an event, largest free block included, one core, the same events for all:
//   maps     std::map of free pieces by address and std::set of them by size, the obvious way;
//   floor    boundary tags, hash, bins of sizes and a bitmap, written straight: one region, no checks, nothing else;
//   space    AddressSpace.
// The floor shares no line with analysis/. The sums over the largest free block after every event must agree.
// Then: what copying an AddressSpace costs, beside a memcpy of as many bytes.
//
//   address_space_bench [EVENTS]     ten million by default
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "analysis/heap/address_space.h"

namespace {

using std::uint32_t;
using std::uint64_t;

constexpr uint64_t heap_bytes = uint64_t{64} << 30;
constexpr uint32_t none = 0xffffffff;

// A block is given back by the row that it had in the caller's table, as a reader of traces does it.
struct Event {
  uint64_t address;
  uint32_t row;
  uint32_t size_256;  // In units of 256 bytes; 0: given back.
};

class Maps {
 public:
  Maps() { add(0, heap_bytes); }

  uint32_t take(uint64_t address, uint64_t size) {
    const auto found = free_.find(address);
    const uint64_t whole = found->second;
    sizes_.erase({whole, address});
    free_.erase(found);
    if (whole > size) add(address + size, whole - size);
    return 0;
  }
  // Best fit, the lowest among equals: what makes the stream.
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

class Floor {
 public:
  Floor() : chunks_(1), table_(1 << 16) {
    std::fill(std::begin(bins_), std::end(bins_), none);
    chunks_[0] = {0, heap_bytes, none, none, none, none};
    add_free(0);
  }

  uint32_t take(uint64_t address, uint64_t size) {
    const uint32_t free = table_[find(address)].chunk;
    remove_free(free);
    if (chunks_[free].size == size) {
      chunks_[free].bin_next = taken;
      return free;
    }
    const uint32_t rest = new_chunk();
    Chunk& block = chunks_[free];
    chunks_[rest] = {address + size, block.size - size, free, block.next, none, none};
    if (block.next != none) chunks_[block.next].previous = rest;
    block.next = rest;
    block.size = size;
    block.bin_next = taken;
    add_free(rest);
    return free;
  }
  void give_back(uint32_t at) {
    const uint32_t next = chunks_[at].next, previous = chunks_[at].previous;
    if (next != none && chunks_[next].bin_next != taken) {
      remove_free(next);
      swallow(at, next);
    }
    if (previous != none && chunks_[previous].bin_next != taken) {
      remove_free(previous);
      swallow(previous, at);
      at = previous;
    }
    add_free(at);
  }
  uint64_t largest() {
    if (largest_ != 0) return largest_;
    if (words_ == 0) return 0;
    const unsigned word = 31 - static_cast<unsigned>(std::countl_zero(words_));
    const unsigned bin = word * 64 + 63 - static_cast<unsigned>(std::countl_zero(bits_[word]));
    for (uint32_t at = bins_[bin]; at != none; at = chunks_[at].bin_next)
      largest_ = std::max(largest_, chunks_[at].size);
    return largest_;
  }

 private:
  static constexpr uint32_t taken = 0xfffffffe;
  struct Chunk {
    uint64_t address, size;
    uint32_t previous, next, bin_previous, bin_next;
  };
  struct Slot {
    uint64_t address = 0;
    uint32_t chunk = none;
  };

  static unsigned bin_of(uint64_t size) {
    const auto log = static_cast<unsigned>(std::bit_width(size | 1)) - 1;
    return log * 16 + static_cast<unsigned>((size << 4 >> log) & 15);
  }
  std::size_t home(uint64_t address) const { return (address * 0x9e3779b97f4a7c15) >> 48; }
  std::size_t find(uint64_t address) const {
    std::size_t at = home(address);
    while (table_[at].address != address || table_[at].chunk == none) at = (at + 1) & 0xffff;
    return at;
  }
  void add_free(uint32_t at) {
    Chunk& chunk = chunks_[at];
    const unsigned bin = bin_of(chunk.size);
    chunk.bin_previous = none;
    chunk.bin_next = bins_[bin];
    if (bins_[bin] != none) chunks_[bins_[bin]].bin_previous = at;
    bins_[bin] = at;
    bits_[bin / 64] |= uint64_t{1} << bin % 64;
    words_ |= uint32_t{1} << bin / 64;
    if (largest_ != 0) largest_ = std::max(largest_, chunk.size);
    std::size_t slot = home(chunk.address);
    while (table_[slot].chunk != none) slot = (slot + 1) & 0xffff;
    table_[slot] = {chunk.address, at};
  }
  void remove_free(uint32_t at) {
    Chunk& chunk = chunks_[at];
    const unsigned bin = bin_of(chunk.size);
    if (chunk.bin_next != none) chunks_[chunk.bin_next].bin_previous = chunk.bin_previous;
    if (chunk.bin_previous != none) {
      chunks_[chunk.bin_previous].bin_next = chunk.bin_next;
    } else {
      bins_[bin] = chunk.bin_next;
      if (chunk.bin_next == none) {
        bits_[bin / 64] &= ~(uint64_t{1} << bin % 64);
        if (bits_[bin / 64] == 0) words_ &= ~(uint32_t{1} << bin / 64);
      }
    }
    if (chunk.size == largest_) largest_ = 0;
    std::size_t hole = find(chunk.address);
    for (std::size_t slot = (hole + 1) & 0xffff; table_[slot].chunk != none; slot = (slot + 1) & 0xffff) {
      if (((slot - home(table_[slot].address)) & 0xffff) < ((slot - hole) & 0xffff)) continue;
      table_[hole] = table_[slot];
      hole = slot;
    }
    table_[hole].chunk = none;
  }
  uint32_t new_chunk() {
    if (unused_.empty()) {
      chunks_.emplace_back();
      return static_cast<uint32_t>(chunks_.size() - 1);
    }
    const uint32_t chunk = unused_.back();
    unused_.pop_back();
    return chunk;
  }
  void swallow(uint32_t at, uint32_t next) {
    chunks_[at].size += chunks_[next].size;
    chunks_[at].next = chunks_[next].next;
    if (chunks_[next].next != none) chunks_[chunks_[next].next].previous = at;
    unused_.push_back(next);
  }

  std::vector<Chunk> chunks_;
  std::vector<Slot> table_;  // Far larger than the free chunks need, so that it never grows.
  std::vector<uint32_t> unused_;
  uint32_t bins_[1024];
  uint64_t bits_[16] = {};
  uint32_t words_ = 0;
  uint64_t largest_ = 0;  // 0: to be looked for.
};

std::vector<Event> stream(std::size_t count) {
  std::mt19937_64 random(20261121);
  std::vector<uint32_t> hot;
  hot.reserve(40);
  for (int i = 0; i < 40; ++i)
    hot.push_back(static_cast<uint32_t>(1 + (uint64_t{1} << (random() % 15)) * (random() % 3 + 1)));
  struct Live {
    uint64_t address, size;
  };
  std::vector<Live> table(32'768);
  std::vector<uint32_t> live, unused;
  for (uint32_t row = static_cast<uint32_t>(table.size()); row-- > 0;) unused.push_back(row);
  Maps heap;
  std::vector<Event> events;
  events.reserve(count);
  double live_sum = 0, gap_sum = 0;
  while (events.size() < count) {
    // Between ten and twenty thousand live blocks, up and down some times in a million events.
    const std::size_t wanted = 10'000 + (events.size() / 20 % 20'000 < 10'000 ? events.size() / 20 % 10'000
                                                                              : 10'000 - events.size() / 20 % 10'000);
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

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Run {
  double ns_per_event;
  uint64_t checksum;
};

template <class Work>
Run measure(const std::vector<Event>& events, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  uint64_t checksum = 0;
  for (const Event& event : events) checksum = checksum * 31 + work(event);
  return {seconds_since(start) * 1e9 / static_cast<double>(events.size()), checksum};
}

Run run_maps(const std::vector<Event>& events) {
  Maps maps;
  std::vector<uint64_t> sizes(32'768);
  return measure(events, [&](const Event& event) {
    if (event.size_256 != 0) {
      sizes[event.row] = uint64_t{event.size_256} * 256;
      maps.take(event.address, sizes[event.row]);
    } else {
      maps.give_back(event.address, sizes[event.row]);
    }
    return maps.largest();
  });
}

Run run_floor(const std::vector<Event>& events) {
  Floor floor;
  std::vector<uint32_t> blocks(32'768);
  return measure(events, [&](const Event& event) {
    if (event.size_256 != 0)
      blocks[event.row] = floor.take(event.address, uint64_t{event.size_256} * 256);
    else
      floor.give_back(blocks[event.row]);
    return floor.largest();
  });
}

Run run_space(const std::vector<Event>& events, bool with_index) {
  hbmscope::AddressSpace space;
  space.add_region({0, heap_bytes}, hbmscope::Joining::never);
  std::vector<hbmscope::BlockIndex> blocks(32'768);
  std::size_t count = 0;
  const Run run = measure(events, [&](const Event& event) {
    // A block at the upper end now and then keeps the ordered index alive.
    if (with_index && ++count % 4096 == 1) space.give_back(space.take(heap_bytes - 256, 256));
    if (event.size_256 != 0)
      blocks[event.row] = space.take(event.address, uint64_t{event.size_256} * 256);
    else
      space.give_back(blocks[event.row]);
    return space.largest_free().value_or(0);
  });
  if (space.problems() != hbmscope::AddressProblems{}) std::abort();
  return run;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure_events(std::size_t count) {
  const std::vector<Event> events = stream(count);
  std::vector<double> maps, floor, space, indexed, ratio;
  for (int round = 0; round < 5; ++round) {
    const Run a = run_maps(events), b = run_floor(events), c = run_space(events, false), d = run_space(events, true);
    if (a.checksum != b.checksum || b.checksum != c.checksum || c.checksum != d.checksum) {
      std::printf("the largest free blocks differ\n");
      std::exit(1);
    }
    maps.push_back(a.ns_per_event);
    floor.push_back(b.ns_per_event);
    space.push_back(c.ns_per_event);
    indexed.push_back(d.ns_per_event);
    ratio.push_back(c.ns_per_event / b.ns_per_event);
  }
  std::printf("ns an event, median of 5 rounds; the largest free block agrees after every event\n");
  std::printf("  maps                      %6.1f\n  floor                     %6.1f\n", median(maps), median(floor));
  std::printf("  space                     %6.1f\n  space, ordered index kept %6.1f\n", median(space), median(indexed));
  std::printf("  space / floor %.2f (target 1.50), maps / space %.1f\n", median(ratio), median(maps) / median(space));
}

void measure_copy(uint32_t live) {
  hbmscope::AddressSpace space;
  space.add_region({0, heap_bytes * 16}, hbmscope::Joining::never);
  std::vector<hbmscope::BlockIndex> blocks;
  for (uint32_t i = 0; i < live + live / 16; ++i) blocks.push_back(space.take(uint64_t{i} * 4096, 4096));
  for (std::size_t i = 0; i < blocks.size(); i += 17) space.give_back(blocks[i]);
  // One tag of 32 bytes for each chunk; the rest is small beside them.
  const std::size_t bytes = space.block_index_bound() * 32;
  std::vector<char> from(bytes, 1), to(bytes, 2);
  hbmscope::AddressSpace copy = space;
  std::vector<double> copies, memcpys;
  for (int round = 0; round < 21; ++round) {
    auto start = std::chrono::steady_clock::now();
    copy = space;
    copies.push_back(seconds_since(start));
    if (copy.blocks() != space.blocks()) std::abort();
    from[static_cast<std::size_t>(round)] = 3;
    start = std::chrono::steady_clock::now();
    std::memcpy(to.data(), from.data(), bytes);
    memcpys.push_back(seconds_since(start));
    if (to[static_cast<std::size_t>(round)] != 3) std::abort();
  }
  std::printf("  %8zu live, %6zu free: %7.3f ms, memcpy of its tags (%5.1f MiB) %7.3f ms, ratio %.2f\n", space.blocks(),
              space.free_chunks(), median(copies) * 1e3, static_cast<double>(bytes) / (1 << 20), median(memcpys) * 1e3,
              median(copies) / median(memcpys));
}

}  // namespace

int main(int argc, char** argv) {
  measure_events(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000);
  std::printf("copying an AddressSpace over another\n");
  for (const uint32_t live : {20'000U, 100'000U, 1'000'000U}) measure_copy(live);
}
