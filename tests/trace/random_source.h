// Writes random records: blocks, handles, mappings, reservations, moves, heaps that disappear and, on request, losses
// and listings; for tests that compare two readers.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "collector/wire/stream_writer.h"

namespace hbmscope {

// The blocks written so far, and a keyframe on request.
struct RandomSource {
  static constexpr std::uint64_t page = 2 << 20;

  std::vector<wire::SharedBlock> blocks;
  wire::StreamWriter writer{0, [this](const wire::SharedBlock& block) { blocks.push_back(block); }};
  std::mt19937_64 random;
  std::vector<std::uint32_t> heaps, stacks{0};
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> live;  // Heap and address: size.
  std::uint64_t next_handle = 1;
  std::int64_t time_ns = 1000;
  bool has_losses = false, has_listings = true;

  explicit RandomSource(std::uint64_t seed) : random(seed) { writer.keep_state(); }
  std::uint64_t pick(std::uint64_t below) { return random() % below; }

  void define_something() {
    const std::string name = "f" + std::to_string(pick(40));
    const std::uint32_t frame = writer.define_frame(name, "train.py", static_cast<std::uint32_t>(pick(9)));
    stacks.push_back(writer.define_stack(stacks[pick(stacks.size())], frame));
    if (pick(3) == 0) writer.add_job_fact("fact " + std::to_string(pick(3)), name);
    if (heaps.size() < 4 && pick(5) == 0) {
      wire::HeapRecord heap;
      heap.flags = wire::heap_flag::has_regions | wire::heap_flag::has_requested | wire::heap_flag::has_addresses;
      heap.device = 0;
      heaps.push_back(writer.define_heap(heap, "heap " + std::to_string(heaps.size()), "device"));
      wire::RegionGrowRecord region;
      region.heap = heaps.back();
      region.size = 512 * page;
      region.address = page;
      writer.add(region, time_ns);
    }
  }
  void take_block(std::uint32_t heap) {
    wire::AllocRecord block;
    block.heap = heap;
    block.address = page + 256 * pick(4096) * 16;
    block.size = 256 * (1 + pick(16));
    block.requested = block.size - pick(100);
    block.stack = stacks[pick(stacks.size())];
    block.stream = static_cast<std::uint32_t>(pick(3));
    block.tag = writer.define_string("tag" + std::to_string(pick(5)));
    writer.alloc(block, time_ns);
    live[{heap, block.address}] = block.size;
  }
  void change_physical(std::uint32_t heap) {
    switch (pick(8)) {
      case 0: {
        wire::PhysicalCreateRecord made;
        made.handle = next_handle++;
        made.size = page * (1 + pick(4));
        made.heap = heap;
        writer.add(made, time_ns);
        break;
      }
      case 1: {
        wire::PhysicalImportRecord made;
        made.handle = 1 + pick(next_handle);
        next_handle = std::max(next_handle, made.handle + 1);
        made.size = page;
        made.heap = heap;
        writer.add(made, time_ns);
        break;
      }
      case 2: {
        wire::PhysicalReleaseRecord gone;
        gone.handle = 1 + pick(next_handle);
        writer.add(gone, time_ns);
        break;
      }
      case 3: {
        wire::PhysicalExportRecord given;
        given.handle = 1 + pick(next_handle);
        writer.add(given, time_ns);
        break;
      }
      case 4:
      case 5: {
        wire::MapRecord mapping;
        mapping.address = page * (10'000 + pick(40));
        mapping.size = page * (1 + pick(3));
        mapping.handle = 1 + pick(next_handle);
        mapping.offset = page * pick(2);
        mapping.heap = heap;
        writer.add(mapping, time_ns);
        break;
      }
      case 6: {
        wire::UnmapRecord range;
        range.address = page * (10'000 + pick(40));
        range.size = page * (1 + pick(6));
        range.heap = heap;
        writer.add(range, time_ns);
        break;
      }
      default: {
        wire::ReserveRecord range;
        range.address = page * (20'000 + 64 * pick(5));
        range.size = page * 64;
        range.heap = heap;
        if (pick(2) == 0) {
          writer.add(range, time_ns);
        } else {
          wire::UnreserveRecord back;
          back.address = range.address;
          back.size = range.size;
          back.heap = heap;
          writer.add(back, time_ns);
        }
        break;
      }
    }
  }
  void trouble(std::uint32_t heap) {
    if (!has_listings || pick(3) == 0) {
      writer.drop_heap({heap}, time_ns);
      std::erase_if(live, [&](const auto& one) { return one.first.first == heap; });
      return;
    }
    if (has_losses) writer.note_loss(pick(5), time_ns - 10, time_ns, pick(2) == 0 ? heap : 0);
    std::vector<wire::LiveRecord> listed;
    for (auto at = live.begin(); at != live.end();) {
      if (at->first.first == heap && pick(4) == 0) {
        at = live.erase(at);
        continue;
      }
      if (at->first.first == heap) {
        wire::LiveRecord block;
        block.address = at->first.second;
        block.size = at->second;
        listed.push_back(block);
      }
      ++at;
    }
    wire::RegionLiveRecord region;
    region.address = page;
    region.size = (256 + pick(256)) * page;
    if (pick(3) > 0) writer.list_heap(heap, std::span(&region, 1), listed, time_ns);
  }
  void step() {
    time_ns += 1 + static_cast<std::int64_t>(pick(1000));
    if (heaps.empty() || pick(20) == 0) return define_something();
    const std::uint32_t heap = heaps[pick(heaps.size())];
    const std::uint64_t what = pick(100);
    if (what < 45) return take_block(heap);
    if (what < 60) return change_physical(heap);
    if (what == 60 && pick(8) == 0) return trouble(heap);
    if (live.empty()) return;
    auto at = live.lower_bound({heap, pick(4096) * 4096});
    if (at == live.end()) at = live.begin();
    const auto [of_heap, address] = at->first;
    if (what < 64) {
      writer.free_requested(of_heap, address, 0, 0, time_ns);
    } else if (what < 68) {
      const std::uint64_t to = page * 300 + 256 * pick(4096) * 16;
      const std::uint64_t size = at->second;
      writer.move(of_heap, address, to, time_ns);
      live.erase(at);
      live[{of_heap, to}] = size;
    } else {
      writer.free(of_heap, address, 0, 0, time_ns);
      live.erase(at);
    }
  }
};

}  // namespace hbmscope
