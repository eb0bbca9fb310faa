#include "tests/bench/scale_recording.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "collector/wire/recording_file.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::bench {
namespace {

constexpr std::uint64_t base = 0x7f3a00000000, region_bytes = std::uint64_t{1} << 30,
                        region_pitch = region_bytes * 9 / 8;
constexpr std::uint64_t pool_limit = std::uint64_t{80} << 30;
constexpr std::uint64_t begun_ms = 1'795'000'000'000;  // On the recording's clock, so that two files are identical.

// Free pieces by address and by size; best fit, the lowest among equals.
class FreeBlocks {
 public:
  void add(std::uint64_t address, std::uint64_t size) {
    auto after = by_address_.lower_bound(address);
    if (after != by_address_.end() && after->first == address + size) {
      size += after->second;
      after = erase(after);
    }
    if (after != by_address_.begin()) {
      const auto before = std::prev(after);
      if (before->first + before->second == address) {
        address = before->first;
        size += before->second;
        erase(before);
      }
    }
    by_address_.emplace(address, size);
    by_size_.emplace(size, address);
  }
  std::optional<std::uint64_t> take(std::uint64_t size) {
    const auto found = by_size_.lower_bound({size, 0});
    if (found == by_size_.end()) return std::nullopt;
    const auto [whole, address] = *found;
    erase(by_address_.find(address));
    if (whole > size) {
      by_address_.emplace(address + size, whole - size);
      by_size_.emplace(whole - size, address + size);
    }
    return address;
  }
  std::uint64_t largest() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }

 private:
  using ByAddress = std::map<std::uint64_t, std::uint64_t>;
  ByAddress::iterator erase(ByAddress::iterator span) {
    by_size_.erase({span->second, span->first});
    return by_address_.erase(span);
  }
  ByAddress by_address_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;
};

class Run {
 public:
  Run(const ScaleShape& shape, wire::StreamWriter& writer) : shape_(shape), writer_(writer) {
    wire::HeapRecord heap;
    heap.flags = wire::heap_flag::has_requested | wire::heap_flag::has_addresses | wire::heap_flag::has_regions;
    heap.device = 0;
    heap.layer = static_cast<std::uint8_t>(wire::Layer::pool);
    heap_ = writer_.define_heap(heap, "GPU 0", "device");
    writer_.add_job_fact("command", "python train.py --layers 48");
    make_stacks();
  }

  void run() {
    while (writer_.next_event() < shape_.events) {
      step();
      ++steps_;
    }
    // The failure: more than the largest free block, but less than the total free memory.
    fail(std::max<std::uint64_t>(std::uint64_t{3} << 30, free_.largest() + free_.largest() / 2));
    writer_.flush();
  }

 private:
  struct Block {
    std::uint64_t address = 0, size = 0;
  };

  std::uint64_t random(std::uint64_t below) { return random_() % below; }
  std::int64_t tick() { return time_ns_ += static_cast<std::int64_t>(2'000 + random(50'000)); }

  // Two dozen lines of the user's code, under library frames of ten to forty calls.
  void make_stacks() {
    const std::uint32_t main = writer_.define_stack(0, writer_.define_frame("main", "/home/me/train/train.py", 210));
    for (std::uint32_t layer = 0; layer < 24; ++layer) {
      const std::string file = layer % 3 == 0 ? "/home/me/train/attention.py" : "/home/me/train/model.py";
      const std::string name = layer % 3 == 0 ? "attend_" : "forward_";
      std::uint32_t stack =
          writer_.define_stack(main, writer_.define_frame(name + std::to_string(layer), file, 40 + layer * 7));
      for (std::uint32_t depth = 0; depth < 10 + layer; ++depth) {
        const std::uint32_t module = (layer * 5 + depth * 3) % 40;
        stack = writer_.define_stack(
            stack,
            writer_.define_frame("_call_impl_" + std::to_string(module),
                                 "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", 1500 + module));
        if (depth + 8 >= 10 + layer) stacks_.push_back(stack);
      }
    }
    leak_ = writer_.define_stack(main, writer_.define_frame("log_metrics", "/home/me/train/metrics.py", 33));
  }

  // Most are small, most bytes are in few: about 60 KiB on average.
  std::uint64_t draw_size() {
    const auto between = [&](double least, double most) {
      const double share = static_cast<double>(random(1 << 20)) / (1 << 20);
      return static_cast<std::uint64_t>(least * std::pow(most / least, share));
    };
    const std::uint64_t kind = random(4000);
    if (kind < 2800) return between(64, 8 << 10);
    if (kind < 3896) return between(8 << 10, 256 << 10);
    if (kind < 3999) return between(256 << 10, 4 << 20);
    return between(4 << 20, 64 << 20);
  }

  std::optional<Block> take(std::uint64_t requested, std::uint32_t stack) {
    const std::uint64_t size = (requested + 511) / 512 * 512;
    auto address = free_.take(size);
    if (!address && pool_bytes_ + region_bytes <= pool_limit) {
      grow();
      address = free_.take(size);
    }
    if (!address) {
      fail(requested);
      return std::nullopt;
    }
    wire::AllocRecord block;
    block.address = *address;
    block.size = size;
    block.requested = requested;
    block.heap = heap_;
    block.stack = stack;
    writer_.alloc(block, tick());
    return Block{*address, size};
  }
  void give_back(const Block& block) {
    writer_.free(heap_, block.address, 0, 0, tick());
    free_.add(block.address, block.size);
  }
  void give_back_one(std::vector<Block>& blocks, std::uint64_t index) {
    std::swap(blocks[index], blocks.back());
    give_back(blocks.back());
    blocks.pop_back();
  }
  void grow() {
    wire::RegionGrowRecord region;
    region.address = base + regions_++ * region_pitch;
    region.size = region_bytes;
    region.heap = heap_;
    writer_.add(region, tick());
    pool_bytes_ += region_bytes;
    free_.add(region.address, region.size);
  }
  void fail(std::uint64_t requested) {
    wire::OutOfMemoryRecord record;
    record.requested = requested;
    record.heap = heap_;
    record.stack = stacks_[requested % stacks_.size()];
    record.available = 0;
    writer_.add(record, tick());
  }
  void mark(std::uint8_t phase) {
    wire::MarkerRecord record;
    record.name = writer_.define_string("step " + std::to_string(steps_));
    record.phase = phase;
    writer_.add(record, tick());
  }

  // The forward pass fills, the backward pass empties; persistent blocks grow until there are as many live blocks as
  // wanted.
  void step() {
    mark(1);
    const std::uint64_t activations = shape_.live_most / 10;
    const std::uint64_t kept_most = shape_.live_most - activations;
    const std::uint64_t before = writer_.next_event(), step_events = std::max<std::uint64_t>(100, activations * 2);
    const double progress = static_cast<double>(before) / (static_cast<double>(shape_.events) / 3);
    const auto wanted = static_cast<std::uint64_t>(std::min(1.0, progress + 0.05) * static_cast<double>(kept_most));
    std::vector<Block> step_blocks;
    while (step_blocks.size() < activations && writer_.next_event() < shape_.events) {
      if (const auto block = take(draw_size(), stacks_[random(stacks_.size())])) step_blocks.push_back(*block);
      if (kept_.size() < wanted && random(100) < 60) {
        if (const auto block = take(draw_size(), random(400) == 0 ? leak_ : stacks_[random(stacks_.size())]))
          kept_.push_back(*block);
      } else if (kept_.size() > wanted / 2 && random(100) < 30) {
        give_back_one(kept_, random(kept_.size()));
      }
      if (writer_.next_event() - before > 2 * step_events) break;
    }
    while (!step_blocks.empty() && writer_.next_event() < shape_.events)
      give_back_one(step_blocks, random(8) == 0 ? random(step_blocks.size()) : step_blocks.size() - 1);
    kept_.insert(kept_.end(), step_blocks.begin(), step_blocks.end());
    mark(2);
  }

  ScaleShape shape_;
  wire::StreamWriter& writer_;
  std::mt19937_64 random_{20261121};
  FreeBlocks free_;
  std::vector<Block> kept_;
  std::vector<std::uint32_t> stacks_;
  std::uint32_t heap_ = 0, leak_ = 0, steps_ = 0;
  std::uint64_t regions_ = 0, pool_bytes_ = 0;
  std::int64_t time_ns_ = 0;
};

}  // namespace

std::optional<std::string> write_scale_recording(const std::string& path, const ScaleShape& shape) {
  wire::RecordingWriter file;
  if (auto failure = file.open(path, begun_ms)) return failure;
  wire::StreamWriter writer(0, [&](const wire::SharedBlock& block) { file.append(*block); });
  Run(shape, writer).run();
  return file.finish();
}

}  // namespace hbmscope::bench
