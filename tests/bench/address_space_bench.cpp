// The cost per event of keeping a heap's state, including the largest free block, on one core and with the same events:
//   maps     std::map of free blocks by address and std::set of them by size, the obvious way;
//   floor    boundary tags, hash, size bins and a bitmap, written directly: one region, no checks, nothing else;
//   space    AddressSpace.
// The floor shares no code with analysis/. The sums over the largest free block after every event must agree. Also
// measures the cost of copying an AddressSpace, compared with a memcpy of the same size.
//
//   address_space_bench [EVENTS]     ten million by default
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "analysis/heap/address_space.h"
#include "tests/bench/boundary_tag_floor.h"
#include "tests/bench/heap_events.h"

namespace {

using namespace hbmscope::bench;

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
  Maps maps(heap_bytes_for(usual_live));
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
  BoundaryTagFloor floor;
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
  space.add_region({0, heap_bytes_for(usual_live)}, hbmscope::Joining::never);
  std::vector<hbmscope::BlockIndex> blocks(32'768);
  std::size_t count = 0;
  const Run run = measure(events, [&](const Event& event) {
    // A block at the upper end now and then keeps the ordered index alive.
    if (with_index && ++count % 4096 == 1) space.give_back(space.take(heap_bytes_for(usual_live) - 256, 256));
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
  const std::vector<Event> events = make_events(count);
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
  space.add_region({0, heap_bytes_for(usual_live) * 16}, hbmscope::Joining::never);
  std::vector<hbmscope::BlockIndex> blocks;
  for (uint32_t i = 0; i < live + live / 16; ++i) blocks.push_back(space.take(uint64_t{i} * 4096, 4096));
  for (std::size_t i = 0; i < blocks.size(); i += 17) space.give_back(blocks[i]);
  // One tag of 32 bytes for each chunk; everything else is small in comparison.
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
