// The cost of the savings of all lines (analysis/diagnose/savings.h) on one core, compared with one replay of the same
// events into the state of the heap, which every pass over a trace has to do. Target: three times a replay.
//   savings    the peak without each line, for all lines
//   lower by   the smallest set of lines that lowers the peak by a tenth
// The best of three runs each, in turn with the replay.
// Then, at the end of the events:
//   blockers   the live blocks in the way of a request that is larger than the largest hole by half of what is in use
//              (analysis/query/failure_facts.h), by the fewest bytes and by the fewest blocks, compared with one walk
//              over all blocks and holes
//
//   savings_bench [EVENTS] [--live N] [--lines N]
//   a million, 15,000, 500
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "analysis/diagnose/savings.h"
#include "analysis/query/failure_facts.h"
#include "analysis/trace/apply_block.h"
#include "app/heap_pages.h"
#include "collector/wire/stream_writer.h"
#include "tests/bench/heap_events.h"
#include "tests/bench/write_event.h"

namespace {

using namespace hbmscope;
using namespace hbmscope::bench;
using Clock = std::chrono::steady_clock;

constexpr double target_ratio = 3;

// Each line is reached through ten stacks.
Trace make_trace(std::size_t count, std::size_t live, std::uint32_t lines) {
  Trace trace{{"made-up.trace"}, "test", "Test", {}, 0, 0, std::vector<Stream>(1), {}, {}};
  wire::StreamWriter writer(0, [&](const wire::SharedBlock& block) {
    if (trace.streams.front().append(block)) std::abort();
  });
  wire::HeapRecord record;
  record.flags = wire::heap_flag::has_regions | wire::heap_flag::has_requested;
  const std::uint32_t heap = writer.define_heap(record, "heap", "device");
  std::vector<std::uint32_t> stacks;
  for (std::uint32_t caller = 0; caller < 10; ++caller) {
    const std::uint32_t outer = writer.define_stack(0, writer.define_frame("main", "/home/me/main.py", 1 + caller));
    for (std::uint32_t line = 0; line < lines; ++line)
      stacks.push_back(writer.define_stack(outer, writer.define_frame("step", "/home/me/train.py", 1 + line)));
  }
  wire::RegionLiveRecord region;
  region.size = heap_bytes_for(live);
  region.heap = heap;
  writer.add(region, 0);
  std::mt19937_64 random(5);
  std::int64_t time_ns = 0;
  for (const Event& event : make_events(count, live)) {
    time_ns += 200 + static_cast<std::int64_t>(random() % 2000);
    write_event(writer, heap, event, event.size_256 == 0 ? 0 : stacks[random() % stacks.size()], time_ns);
  }
  writer.flush();
  return trace;
}

// Returns the highest bytes in use.
std::uint64_t replay(const Stream& stream) {
  StreamState state;
  state.make_heaps(stream.definitions());
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  std::uint64_t peak = 0;
  for (std::size_t i = 0; i < stream.blocks().size(); ++i) {
    if (decoder.decode(*stream.blocks()[i], decoded)) std::abort();
    state.apply(
        decoded, i, stream.definitions(), ~std::uint64_t{0},
        [&](std::uint64_t, std::int64_t, std::uint32_t heap) { peak = std::max(peak, state.heap(heap).in_use_bytes); });
  }
  return peak;
}

// Nanoseconds an event.
template <class Run>
void measure(std::size_t events, double& best, const Run& run) {
  const auto start = Clock::now();
  run();
  best = std::min(best,
                  std::chrono::duration<double, std::nano>(Clock::now() - start).count() / static_cast<double>(events));
}

void measure_blockers(const Stream& stream) {
  const StreamState state = stream.state_at(stream.end_position());
  const AddressSpace& space = state.heap(1).space;
  double walk_ns = 1e300, blockers_ns = 1e300;
  std::uint64_t walked = 0;
  std::size_t in_the_way = 0;
  for (int pass = 0; pass < 3; ++pass) {
    measure(1, walk_ns, [&] { space.for_each_chunk([&](const HeapChunk& chunk) { walked += chunk.range.size(); }); });
    measure(1, blockers_ns, [&] {
      const std::uint64_t bytes = space.largest_free().value_or(0) + state.heap(1).in_use_bytes / 2;
      const auto bytes_first = find_cheapest_place(state, 1, bytes),
                 blocks_first = find_cheapest_place(state, 1, bytes, Fewest::blocks);
      if (!bytes_first || !blocks_first) std::abort();
      in_the_way = bytes_first->blocks.size();
    });
  }
  if (walked == 0) std::abort();
  std::printf("blockers  %6.1f ms, one walk %.1f ms: %.2fx      of %llu live blocks, %zu are in the way\n",
              blockers_ns / 1e6, walk_ns / 1e6, blockers_ns / walk_ns,
              static_cast<unsigned long long>(state.heap(1).live_blocks), in_the_way);
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 1'000'000, live = usual_live, lines = 500;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--live" && i + 1 < argc)
      live = std::strtoull(argv[++i], nullptr, 10);
    else if (std::string_view(argv[i]) == "--lines" && i + 1 < argc)
      lines = std::strtoull(argv[++i], nullptr, 10);
    else
      count = std::strtoull(argv[i], nullptr, 10);
  }
  if (count == 0 || live < 3 || lines == 0) {
    std::fprintf(stderr, "savings_bench [EVENTS] [--live N] [--lines N]\n");
    return 2;
  }
  use_large_heap_pages();  // Like hbmscope itself.
  const Trace trace = make_trace(count, live, static_cast<std::uint32_t>(lines));
  const Stream& stream = trace.streams.front();
  double replay_ns = 1e300, savings_ns = 1e300, set_ns = 1e300;
  std::uint64_t peak = 0;
  std::optional<Savings> savings, with_set;
  for (int pass = 0; pass < 3; ++pass) {
    measure(count, replay_ns, [&] { peak = replay(stream); });
    measure(count, savings_ns, [&] { savings = compute_savings(trace, {0, 1}, {}, nullptr); });
    measure(count, set_ns, [&] { with_set = compute_savings(trace, {0, 1}, {SiteBy::line, peak / 10}, nullptr); });
  }
  if (savings->peak.in_use_bytes != peak) {
    std::printf("the peaks differ\n");
    return 1;
  }
  std::printf("replay    %6.1f ns an event\n", replay_ns);
  std::printf("savings   %6.1f ns an event, replay %.1f: %.2fx, target %.0fx      of %zu lines\n", savings_ns,
              replay_ns, savings_ns / replay_ns, target_ratio, savings->sites.size());
  std::printf("lower by  %6.1f ns an event, replay %.1f: %.2fx      %zu lines, %s\n", set_ns, replay_ns,
              set_ns / replay_ns, with_set->set->sites.size(),
              with_set->set->is_smallest ? "the smallest set" : "chosen one by one");
  measure_blockers(stream);
  return 0;
}
