// Random streams for comparing seeks with a walk over every event, and the comparison itself.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/trace/stream.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope {

using Random = std::mt19937_64;

// Heap 1 has regions, heap 2 has no known regions, heap 3 has two regions that join.
class RandomStream {
 public:
  explicit RandomStream(unsigned seed)
      : random_(seed),
        writer_(0, [this](wire::SharedBlock block) { ASSERT_EQ(std::nullopt, stream.append(std::move(block))); }) {
    for (const std::uint32_t flags : {wire::heap_flag::has_regions, std::uint32_t{0}, wire::heap_flag::has_regions}) {
      wire::HeapRecord record;
      record.flags = flags | wire::heap_flag::has_requested;
      writer_.define_heap(record, "heap", "device");
    }
    region(1, 0, heap_bytes, 0);
    region(3, 0, heap_bytes / 2, wire::region_flag::joins_neighbours);
    region(3, heap_bytes / 2, heap_bytes / 2, wire::region_flag::joins_neighbours);
    writer_.flush();
  }

  // `out_of_order` in a thousand events are out of order. `lasting`: includes overlapping blocks, which later blocks
  // then meet.
  void run(std::uint64_t events, unsigned out_of_order, bool lasting = true) {
    for (const std::uint64_t end = writer_.next_event() + events; writer_.next_event() < end;) {
      if (random_() % 1000 < out_of_order)
        step_out_of_order(lasting);
      else
        step();
      if (random_() % 700 == 0) end_block();
    }
    writer_.flush();
  }

  Stream stream;

 private:
  static constexpr std::uint64_t heap_bytes = 1 << 22, page = 1024;

  void region(std::uint32_t heap, std::uint64_t address, std::uint64_t size, std::uint32_t flags) {
    wire::RegionGrowRecord record;
    record.address = address;
    record.size = size;
    record.heap = heap;
    record.flags = flags;
    writer_.add(record, ++time_);
  }

  void alloc(std::uint32_t heap, std::uint64_t address, std::uint64_t size) {
    wire::AllocRecord record;
    record.address = address;
    record.size = size;
    record.requested = random_() % 10 == 0 ? wire::unknown_bytes : size - random_() % page;
    record.heap = heap;
    record.stream = static_cast<std::uint32_t>(random_() % 3);
    record.stack = static_cast<std::uint32_t>(random_() % 5);
    record.tag = static_cast<std::uint32_t>(random_() % 7);
    writer_.alloc(record, ++time_);
    live_[heap][address] = size;
  }

  // The next block contains events of all kinds, or only common ones: allocations and frees, or only one of them.
  void end_block() {
    writer_.flush();
    has_requests_ = random_() % 2 == 0;
    has_allocs_ = random_() % 4 != 0;
    has_frees_ = !has_allocs_ || random_() % 4 != 0;
    if (random_() % 4 == 0) writer_.define_frame("f", "f.py", static_cast<std::uint32_t>(random_() % 1000));
  }

  void step() {
    const auto heap = 1 + static_cast<std::uint32_t>(random_() % 3);
    auto& live = live_[heap];
    const std::uint64_t address = random_() % (heap_bytes / page) * page;
    auto at = live.upper_bound(address);
    const std::uint64_t end = at == live.end() ? heap_bytes : at->first;
    const bool is_free = at == live.begin() || std::prev(at)->first + std::prev(at)->second <= address;
    if (is_free ? !has_allocs_ : !has_frees_) return;
    if (is_free) return alloc(heap, address, std::min(end - address, (1 + random_() % 8) * page));
    --at;
    if (has_requests_ && random_() % 5 == 0) {
      writer_.free_requested(heap, at->first, 0, 0, ++time_);
    } else {
      writer_.free(heap, at->first, 0, 0, ++time_);
      live.erase(at);
    }
  }

  void step_out_of_order(bool lasting) {
    const auto heap = 1 + static_cast<std::uint32_t>(random_() % 3);
    const std::uint64_t address = random_() % (heap_bytes / page) * page;
    switch (random_() % (lasting ? 5 : 3)) {
      case 0: writer_.free(heap, address + 1, 0, 0, ++time_); break;
      case 1: region(1, heap_bytes + random_() % 8 * page, page, 0); break;
      case 2: writer_.note_loss(3, time_, time_ + 1, heap); break;
      case 3:
        if (!live_[heap].contains(address)) alloc(heap, address, 5 * page);
        break;
      default: {
        wire::MoveRecord record;
        record.slot = static_cast<std::uint32_t>(random_() % 100);
        record.address = address;
        writer_.add(record, ++time_);
        break;
      }
    }
  }

  Random random_;
  wire::StreamWriter writer_;
  std::map<std::uint32_t, std::map<std::uint64_t, std::uint64_t>> live_;  // By heap and address: sizes.
  std::int64_t time_ = 0;
  bool has_requests_ = true, has_allocs_ = true, has_frees_ = true;
};

inline void expect_same(const StreamState& expected, const StreamState& state) {
  ASSERT_EQ(expected.position(), state.position());
  ASSERT_EQ(expected.time_ns(), state.time_ns());
  ASSERT_EQ(expected.slot_count(), state.slot_count());
  ASSERT_EQ(expected.problems().total(), state.problems().total());
  for (std::size_t slot = 0; slot < state.slot_count(); ++slot) {
    const LiveBlock a = expected.slots()[slot], b = state.slots()[slot];
    ASSERT_EQ(a.heap, b.heap) << slot;
    ASSERT_EQ(a.is_vacant, b.is_vacant) << slot;
    if (!a.is_live()) continue;
    ASSERT_EQ(std::tuple(a.event, a.address, a.size, a.requested, a.stack, a.stream, a.tag, a.flags),
              std::tuple(b.event, b.address, b.size, b.requested, b.stack, b.stream, b.tag, b.flags));
    ASSERT_EQ(expected.heap(a.heap).space.is_loose(a.place), state.heap(a.heap).space.is_loose(b.place));
  }
  for (std::uint32_t id = 1; id <= 3; ++id) {
    const HeapState &a = expected.heap(id), &b = state.heap(id);
    ASSERT_EQ(std::tuple(a.in_use_bytes, a.requested_bytes, a.pending_bytes, a.live_blocks, a.pending_blocks,
                         a.unknown_requests, a.is_inexact),
              std::tuple(b.in_use_bytes, b.requested_bytes, b.pending_bytes, b.live_blocks, b.pending_blocks,
                         b.unknown_requests, b.is_inexact));
    ASSERT_EQ(a.space.largest_free(), b.space.largest_free());
    ASSERT_EQ(a.space.free_bytes(), b.space.free_bytes());
    ASSERT_EQ(a.space.free_chunks(), b.space.free_chunks());
    ASSERT_EQ(a.space.problems(), b.space.problems());
  }
}

}  // namespace hbmscope
