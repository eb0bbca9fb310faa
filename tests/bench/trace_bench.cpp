// What a trace costs, one core, beside floors on the same events in the same run:
//   encode     events to sealed blocks, a free matched to its slot;      floor: encoding_floor.h
//   state      blocks to the exact state after every event, the largest free block included, peaks, keyframes;
//              floor: decoding plus boundary_tag_floor.h
//   seek       the state at a random position;                          floor: half a block replayed, live blocks
//   copied
// and what it keeps: bytes in a file, bytes in memory. The sums over the largest free block must agree.
//
//   trace_bench [EVENTS] [--all-distinct]      ten million by default; every (stack, size) pair different
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "analysis/trace/stream.h"
#include "collector/wire/stream_writer.h"
#include "tests/bench/boundary_tag_floor.h"
#include "tests/bench/encoding_floor.h"
#include "tests/bench/heap_events.h"

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

Input make_input(std::size_t count, bool all_distinct) {
  Input input;
  input.events = make_events(count);
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

std::vector<wire::SharedBlock> encode(const Input& input) {
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
  region.size = heap_bytes;
  region.heap = heap;
  writer.add(region, 0);
  for (std::size_t i = 0; i < input.events.size(); ++i) {
    const Event& event = input.events[i];
    const auto time = static_cast<std::int64_t>(input.times[i]);
    if (event.size_256 == 0) {
      writer.free(heap, event.address, 0, 0, time);
      continue;
    }
    wire::AllocRecord block;
    block.address = event.address;
    block.size = block.requested = std::uint64_t{event.size_256} * 256;
    block.heap = heap;
    block.stack = input.stacks[i];
    writer.alloc(block, time);
  }
  writer.flush();
  return blocks;
}

void measure_seeks(const Stream& stream, std::size_t events) {
  std::mt19937_64 random(9);
  std::vector<double> times;
  std::size_t live = 0;
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t position = random() % events;
    const auto start = Clock::now();
    const StreamState state = stream.state_at(position);
    times.push_back(ns_since(start, 1) / 1e6);
    live += state.heap(1).live_blocks;
  }
  std::sort(times.begin(), times.end());
  std::printf("seek      median %.2f ms, 99th of 100 %.2f ms, %zu live on average\n", times[150], times[297],
              live / 300);
}

void run(std::size_t count, bool all_distinct) {
  const Input input = make_input(count, all_distinct);
  std::vector<FloorBlock> floor_blocks;
  auto start = Clock::now();
  {
    EncodingFloor floor;
    for (std::size_t at = 0; at < count; at += floor_block_events)
      floor_blocks.push_back(floor.encode(input.events.data() + at, input.times.data() + at, input.stacks.data() + at,
                                          std::min(floor_block_events, count - at)));
  }
  const double encode_floor = ns_since(start, count);
  start = Clock::now();
  const std::vector<wire::SharedBlock> blocks = encode(input);
  const double encode_ours = ns_since(start, count);
  std::uint64_t floor_bytes = 0, bytes = 0;
  for (const FloorBlock& block : floor_blocks) floor_bytes += block.bytes.size();
  for (const wire::SharedBlock& block : blocks) bytes += sizeof(block->header) + block->payload.size();
  std::printf("encode    %.1f ns an event, floor %.1f: %.2fx      %.2f bytes an event, floor %.2f\n", encode_ours,
              encode_floor, encode_ours / encode_floor, static_cast<double>(bytes) / static_cast<double>(count),
              static_cast<double>(floor_bytes) / static_cast<double>(count));

  start = Clock::now();
  std::uint64_t floor_sum = 0;
  {
    DecodingFloor decoder;
    BoundaryTagFloor state;
    std::vector<std::uint32_t> rows, unused;
    for (const FloorBlock& block : floor_blocks)
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
                       floor_sum = floor_sum * 31 + state.largest();
                     });
  }
  const double state_floor = ns_since(start, count);
  start = Clock::now();
  {
    wire::BlockDecoder only;
    wire::DecodedBlock rows;
    for (const wire::SharedBlock& block : blocks)
      if (only.decode(*block, rows)) std::abort();
  }
  const double decode_ours = ns_since(start, count);
  start = Clock::now();
  std::uint64_t decoded_sum = 0;
  {
    DecodingFloor only;
    for (const FloorBlock& block : floor_blocks)
      only.decode(block, [&](std::uint64_t address, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t) {
        decoded_sum += address;
      });
  }
  const double decode_floor = ns_since(start, count);
  std::printf("decode    %.1f ns an event, floor %.1f: %.2fx (%llu)\n", decode_ours, decode_floor,
              decode_ours / decode_floor, static_cast<unsigned long long>(decoded_sum % 10));
  start = Clock::now();
  Stream stream;
  for (const wire::SharedBlock& block : blocks)
    if (stream.append(block)) std::abort();
  const double state_ours = ns_since(start, count);
  std::uint64_t sum = 0;
  StreamState state;
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  start = Clock::now();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (decoder.decode(*blocks[i], decoded)) std::abort();
    state.apply(decoded, i, stream.definitions(), ~std::uint64_t{0},
                [&](std::uint64_t, std::int64_t, std::uint32_t heap) {
                  if (state.position() > 0) sum = sum * 31 + state.heap(heap).space.largest_free().value_or(0);
                });
  }
  const double every_largest = ns_since(start, count);
  if (sum != floor_sum) {
    std::printf("the largest free blocks differ\n");
    std::exit(1);
  }
  std::printf(
      "state     %.1f ns an event (peaks, keyframes), %.1f with the largest free block read after each; floor %.1f: "
      "%.2fx, %.2fx\n",
      state_ours, every_largest, state_floor, state_ours / state_floor, every_largest / state_floor);
  std::printf("          %.1f M events a second; %.2f bytes an event in memory\n", 1e3 / state_ours,
              static_cast<double>(stream.memory_bytes()) / static_cast<double>(count));
  measure_seeks(stream, count);
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 10'000'000;
  bool all_distinct = false;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--all-distinct")
      all_distinct = true;
    else
      count = static_cast<std::size_t>(std::strtoull(argv[i], nullptr, 10));
  }
  run(count, all_distinct);
}
