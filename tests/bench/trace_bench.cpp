// The cost of a trace on one core, compared with floors on the same events in the same run:
//   encode     events to sealed blocks, each free matched to its slot, knowing the next events like readers of files;
//              untold: as when draining a running job;                  floor: encoding_floor.h, which knows all events
//   decode     blocks to rows;                                           floor: encoding_floor.h
//   state      blocks to the exact state after every event, including the largest free block;
//              floor: decoding plus boundary_tag_floor.h
//   opened     the same with peaks, timelines and keyframes: the work of a reader
//   curves     only bytes in use over time, and their peak;              floor: decoding and a sum
//   seek       the state at a random position;           floor: half a block replayed, and the live blocks copied
// Also measures size: bytes in a file, bytes in memory. The sums over the largest free block must agree. Each is run
// three times, alternating with its floor, and the best counts: other jobs on the machine only ever add time.
//
//   trace_bench [EVENTS] [--live N] [--seeks N] [--all-distinct]
//   ten million, 15,000, 200; every (stack, size) pair different
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "analysis/trace/apply_block.h"
#include "analysis/trace/stream.h"
#include "app/heap_pages.h"
#include "collector/wire/stream_writer.h"
#include "tests/bench/boundary_tag_floor.h"
#include "tests/bench/encoding_floor.h"
#include "tests/bench/heap_events.h"
#include "tests/bench/write_event.h"

namespace {

using namespace hbmscope;
using namespace hbmscope::bench;
using Clock = std::chrono::steady_clock;

struct Input {
  std::vector<Event> events;
  std::vector<std::uint64_t> times;
  std::vector<std::uint32_t> stacks;
  std::uint32_t stack_count = 5000;
};

Input make_input(std::size_t count, std::size_t live, bool all_distinct) {
  Input input;
  input.events = make_events(count, live);
  std::mt19937_64 random(5);
  std::uint64_t time = 0;
  if (all_distinct) input.stack_count = static_cast<std::uint32_t>(count / 2 + 1);
  for (std::size_t i = 0; i < count; ++i) {
    input.times.push_back(time += 200 + random() % 2000);
    input.stacks.push_back(static_cast<std::uint32_t>(all_distinct ? 1 + i / 2 : 1 + random() % input.stack_count));
  }
  return input;
}

double ns_since(Clock::time_point start, std::size_t events) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / static_cast<double>(events);
}

std::vector<wire::SharedBlock> encode(const Input& input, std::size_t live, bool is_reported_ahead) {
  std::vector<wire::SharedBlock> blocks;
  wire::StreamWriter writer(0, [&](wire::SharedBlock block) { blocks.push_back(std::move(block)); });
  wire::HeapRecord record;
  record.flags = wire::heap_flag::has_regions | wire::heap_flag::has_requested;
  const std::uint32_t heap = writer.define_heap(record, "heap", "device");
  const std::uint32_t frame = writer.define_frame("f", "f.py", 1);
  std::uint32_t parent = 0;
  for (std::uint32_t i = 0; i < input.stack_count; ++i) {
    wire::StackRecord stack;
    stack.id = i + 1;
    stack.parent = i % 20 == 0 ? 0 : parent;
    stack.frame = frame;
    parent = i + 1;
    writer.add(stack, 0);
  }
  wire::RegionLiveRecord region;
  region.size = heap_bytes_for(live);
  region.heap = heap;
  writer.add(region, 0);
  for (std::size_t i = 0; i < input.events.size(); ++i) {
    const Event& event = input.events[i];
    if (is_reported_ahead && i + 8 < input.events.size()) writer.expect(heap, input.events[i + 8].address);
    write_event(writer, heap, event, input.stacks[i], static_cast<std::int64_t>(input.times[i]));
  }
  writer.flush();
  return blocks;
}

struct Pair {
  double ours = 1e300, floor = 1e300;
  double ratio() const { return ours / floor; }
};

// Nanoseconds an event, the best of three passes in turn.
template <class Ours, class Floor>
Pair measure(std::size_t events, const Ours& ours, const Floor& floor) {
  Pair best;
  for (int pass = 0; pass < 3; ++pass) {
    auto start = Clock::now();
    floor();
    best.floor = std::min(best.floor, ns_since(start, events));
    start = Clock::now();
    ours();
    best.ours = std::min(best.ours, ns_since(start, events));
  }
  return best;
}

std::vector<FloorBlock> encode_floor(const Input& input, std::size_t live) {
  std::vector<FloorBlock> blocks;
  EncodingFloor floor(live);
  const std::size_t count = input.events.size();
  for (std::size_t at = 0; at < count; at += floor_block_events)
    blocks.push_back(floor.encode(input.events.data() + at, input.times.data() + at, input.stacks.data() + at,
                                  std::min(floor_block_events, count - at)));
  return blocks;
}

// Returns a sum over the largest free block after every event.
std::uint64_t replay_floor(const std::vector<FloorBlock>& blocks, std::size_t live) {
  DecodingFloor decoder;
  BoundaryTagFloor state(live);
  std::vector<std::uint32_t> rows, unused;
  std::uint64_t sum = 0;
  for (const FloorBlock& block : blocks)
    decoder.decode(block,
                   [&](std::uint64_t address, std::uint64_t size, std::uint64_t, std::uint64_t, std::uint64_t row) {
                     if (size == 0) {
                       state.give_back(rows[row]);
                       unused.push_back(static_cast<std::uint32_t>(row));
                     } else {
                       const std::uint32_t chunk = state.take(address, size * 256);
                       if (unused.empty()) {
                         rows.push_back(chunk);
                       } else {
                         rows[unused.back()] = chunk;
                         unused.pop_back();
                       }
                     }
                     sum = sum * 31 + state.largest();
                   });
  return sum;
}

std::uint64_t decode_floor(const std::vector<FloorBlock>& blocks) {
  DecodingFloor decoder;
  std::uint64_t sum = 0;
  for (const FloorBlock& block : blocks)
    decoder.decode(block, [&](std::uint64_t address, std::uint64_t, std::uint64_t time, std::uint64_t, std::uint64_t) {
      sum += address ^ time;
    });
  return sum;
}

void decode(const std::vector<wire::SharedBlock>& blocks) {
  wire::BlockDecoder decoder;
  wire::DecodedBlock rows;
  for (const wire::SharedBlock& block : blocks)
    if (decoder.decode(*block, rows)) std::abort();
}

std::uint64_t replay(const std::vector<wire::SharedBlock>& blocks, const Definitions& definitions) {
  StreamState state;
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (decoder.decode(*blocks[i], decoded)) std::abort();
    state.apply(decoded, i, definitions, ~std::uint64_t{0}, [&](std::uint64_t, std::int64_t, std::uint32_t heap) {
      if (state.position() > 0) sum = sum * 31 + state.heap(heap).space.largest_free().value_or(0);
    });
  }
  return sum;
}

// Returns the highest bytes in use.
std::uint64_t curve_floor(const std::vector<FloorBlock>& blocks) {
  DecodingFloor decoder;
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint32_t> unused;
  std::uint64_t in_use = 0, peak = 0;
  for (const FloorBlock& block : blocks)
    decoder.decode(block, [&](std::uint64_t, std::uint64_t size, std::uint64_t, std::uint64_t, std::uint64_t row) {
      if (size == 0) {
        in_use -= sizes[row];
        unused.push_back(static_cast<std::uint32_t>(row));
      } else {
        in_use += size * 256;
        if (unused.empty()) {
          sizes.push_back(size * 256);
        } else {
          sizes[unused.back()] = size * 256;
          unused.pop_back();
        }
      }
      peak = std::max(peak, in_use);
    });
  return peak;
}

// The overall peak, computed only from curves.
std::uint64_t read_curves(const std::vector<wire::SharedBlock>& blocks) {
  Stream stream(Stream::Keeps::curves);
  for (const wire::SharedBlock& block : blocks)
    if (stream.append(block)) std::abort();
  return stream.needs_everything() ? 0 : stream.peak(1).in_use_bytes;
}

Stream open_stream(const std::vector<wire::SharedBlock>& blocks) {
  Stream stream;
  for (const wire::SharedBlock& block : blocks)
    if (stream.append(block)) std::abort();
  return stream;
}

// The cost of one copy of that many live blocks.
double copy_floor_ms(std::size_t live) {
  const std::vector<LiveBlock> blocks(live);
  double best = 1e300;
  for (int pass = 0; pass < 5; ++pass) {
    const auto start = Clock::now();
    const std::vector<LiveBlock> copy = blocks;
    asm volatile("" : : "r"(copy.data()) : "memory");  // Else nobody needs the copy, and none is made.
    best = std::min(best, ns_since(start, 1) / 1e6);
  }
  return best;
}

// The minimum work of a reader: replaying half a block of events, and one copy of the live blocks. The target is one
// and a half times both, or 8 ms if that is more.
void measure_seeks(const Stream& stream, std::size_t events, double replay_floor_ns, std::size_t seeks) {
  constexpr double target_ms = 8, target_ratio = 1.5;
  std::mt19937_64 random(9);
  std::vector<std::uint64_t> positions(seeks);
  for (std::uint64_t& position : positions) position = random() % events;
  std::vector<double> times(seeks, 1e300);
  std::size_t live = 0;
  // Rounds over all positions, so that none finds its own data in the cache. The slowest positions count, not the times
  // at which others used the machine: the best of ten for each position.
  for (int round = 0; round < 10; ++round) {
    live = 0;
    for (std::size_t i = 0; i < seeks; ++i) {
      const auto start = Clock::now();
      const StreamState state = stream.state_at(positions[i]);
      times[i] = std::min(times[i], ns_since(start, 1) / 1e6);
      live += state.heap(1).live_blocks;
    }
  }
  std::sort(times.begin(), times.end());
  const double replay_ms = replay_floor_ns * static_cast<double>(floor_block_events) / 2 / 1e6;
  const double copy_ms = copy_floor_ms(live / seeks);
  const double p99_ms = times[seeks * 99 / 100], allowed_ms = std::max(target_ms, target_ratio * (replay_ms + copy_ms));
  std::printf(
      "seek      median %.2f ms, 99th of 100 %.2f ms, %zu live on average; floor: half a block %.2f + a copy %.2f ms, "
      "%.2fx; %.2fx of the %.1f ms allowed\n",
      times[seeks / 2], p99_ms, live / seeks, replay_ms, copy_ms, p99_ms / (replay_ms + copy_ms), p99_ms / allowed_ms,
      allowed_ms);
  if (live / seeks <= floor_block_events) return;
  // Keyframes are as many events apart as there are live blocks, so this is half the distance between two of them.
  const double way_ms = replay_floor_ns * static_cast<double>(live / seeks) / 2 / 1e6;
  std::printf("          half the way between keyframes replayed, %.2f ms, + a copy: %.2fx\n", way_ms,
              p99_ms / (way_ms + copy_ms));
}

void run(std::size_t count, std::size_t live, bool all_distinct, std::size_t seeks) {
  const Input input = make_input(count, live, all_distinct);
  std::vector<FloorBlock> floor_blocks;
  std::vector<wire::SharedBlock> blocks;
  const Pair encoding = measure(
      count, [&] { blocks = encode(input, live, true); }, [&] { floor_blocks = encode_floor(input, live); });
  std::uint64_t floor_bytes = 0, bytes = 0;
  for (const FloorBlock& block : floor_blocks) floor_bytes += block.bytes.size();
  for (const wire::SharedBlock& block : blocks) bytes += sizeof(block->header) + block->payload.size();
  const Pair unreported = measure(
      count, [&] { blocks = encode(input, live, false); }, [] {});
  std::printf("encode    %5.1f ns an event, floor %5.1f: %.2fx      %.2f bytes an event, floor %.2f\n", encoding.ours,
              encoding.floor, encoding.ratio(), static_cast<double>(bytes) / static_cast<double>(count),
              static_cast<double>(floor_bytes) / static_cast<double>(count));
  std::printf("untold    %5.1f ns an event, floor %5.1f: %.2fx\n", unreported.ours, encoding.floor,
              unreported.ours / encoding.floor);

  std::uint64_t kept = 0;
  const Pair decoding = measure(
      count, [&] { decode(blocks); }, [&] { kept += decode_floor(floor_blocks); });
  std::printf("decode    %5.1f ns an event, floor %5.1f: %.2fx\n", decoding.ours, decoding.floor, decoding.ratio());

  Stream stream;
  const Pair opening = measure(
      count, [&] { stream = open_stream(blocks); }, [] {});
  std::uint64_t sum = 0, floor_sum = 0;
  const Pair state = measure(
      count, [&] { sum = replay(blocks, stream.definitions()); },
      [&] { floor_sum = replay_floor(floor_blocks, live); });
  if (sum != floor_sum || kept == 0) {
    std::printf("the largest free blocks differ\n");
    std::exit(1);
  }
  std::printf("state     %5.1f ns an event, floor %5.1f: %.2fx      %.1f M events a second\n", state.ours, state.floor,
              state.ratio(), 1e3 / state.ours);
  std::printf(
      "opened    %5.1f ns an event, floor %5.1f: %.2fx      %.1f M events a second, %.2f bytes an event in memory\n",
      opening.ours, state.floor, opening.ours / state.floor, 1e3 / opening.ours,
      static_cast<double>(stream.memory_bytes()) / static_cast<double>(count));
  std::uint64_t peak = 0, floor_peak = 0;
  const Pair curves = measure(
      count, [&] { peak = read_curves(blocks); }, [&] { floor_peak = curve_floor(floor_blocks); });
  if (peak != floor_peak || peak != stream.peak(1).in_use_bytes) {
    std::printf("the peaks differ\n");
    std::exit(1);
  }
  std::printf("curves    %5.1f ns an event, floor %5.1f: %.2fx      %.1f M events a second\n", curves.ours,
              curves.floor, curves.ratio(), 1e3 / curves.ours);
  measure_seeks(stream, count, state.floor, seeks);
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 10'000'000, live = usual_live, seeks = 200;
  bool all_distinct = false;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--all-distinct")
      all_distinct = true;
    else if (std::string_view(argv[i]) == "--live" && i + 1 < argc)
      live = std::strtoull(argv[++i], nullptr, 10);
    else if (std::string_view(argv[i]) == "--seeks" && i + 1 < argc)
      seeks = std::strtoull(argv[++i], nullptr, 10);
    else
      count = static_cast<std::size_t>(std::strtoull(argv[i], nullptr, 10));
  }
  if (count == 0 || live < 3 || seeks == 0) {
    std::fprintf(stderr, "trace_bench [EVENTS] [--live N] [--seeks N] [--all-distinct]\n");
    return 2;
  }
  hbmscope::use_large_heap_pages();  // Like hbmscope itself; the floors have the same memory.
  run(count, live, all_distinct, seeks);
}
