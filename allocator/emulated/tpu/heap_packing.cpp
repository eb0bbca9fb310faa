#include "allocator/emulated/tpu/heap_packing.h"

#include <algorithm>
#include <utility>

#include "allocator/emulated/tpu/placed_chunks.h"

namespace hbmscope::allocator::tpu {
namespace {

constexpr std::uint64_t heap_end = std::uint64_t{1} << 63;

std::uint64_t aligned_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// A buffer and all its colocations, the buffer first. `seen_by`: for each buffer, 1 + the last buffer queried.
std::vector<std::uint32_t> together_with(std::span<const PackedBuffer> buffers, std::uint32_t buffer,
                                         std::vector<std::uint32_t>& seen_by) {
  std::vector<std::uint32_t> all = {buffer};
  seen_by[buffer] = buffer + 1;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const std::uint32_t other : buffers[all[i]].colocations)
      if (std::exchange(seen_by[other], buffer + 1) != buffer + 1) all.push_back(other);
  return all;
}

// A heap that is being filled.
class Heap {
 public:
  Heap(std::span<const PackedBuffer> buffers, std::uint64_t alignment, Work* work)
      : buffers_(buffers), alignment_(alignment), work_(work) {}

  // The offset for a buffer and its colocations: in the smallest gap that holds the largest of them; of equal gaps, the
  // lowest. The original splits its gaps one by one and drops those that are too small at once; the result is the same.
  std::uint64_t find_place(const std::vector<std::uint32_t>& together) {
    std::uint64_t largest = 0;
    for (const std::uint32_t each : together) largest = std::max(largest, buffers_[each].size);
    gather_taken(together);
    std::uint64_t best_size = heap_end, best = 0, free_from = 0;
    const auto consider = [&](std::uint64_t end) {
      if (free_from + largest > end || end - free_from >= best_size) return;
      best_size = end - free_from;
      best = free_from;
    };
    for (const auto& [offset, offset_end] : taken_) {
      if (offset > free_from) consider(offset);
      free_from = std::max(free_from, aligned_up(offset_end, alignment_));
    }
    return best_size < heap_end ? best : free_from;  // There is always room above all others.
  }

  void place(const std::vector<std::uint32_t>& together, std::uint64_t offset, std::vector<std::uint64_t>& offsets) {
    for (const std::uint32_t each : together) {
      const PackedBuffer& buffer = buffers_[each];
      offsets[each] = offset;
      if (buffer.size == 0) continue;
      chunks_.add({buffer.begin, buffer.end, offset, offset + buffer.size});
      size_ = std::max(size_, offset + buffer.size);
    }
  }

  std::uint64_t size() const { return size_; }
  std::uint64_t size_with(const std::vector<std::uint32_t>& together, std::uint64_t offset) const {
    std::uint64_t size = size_;
    for (const std::uint32_t each : together) size = std::max(size, offset + buffers_[each].size);
    return size;
  }

 private:
  // The chunks that are live together with one of these, by offset. Incomplete if the work is over.
  void gather_taken(const std::vector<std::uint32_t>& together) {
    taken_.clear();
    for (const std::uint32_t each : together) {
      const std::size_t before = taken_.size();
      const std::uint64_t looked_at = chunks_.for_each_alive(
          buffers_[each].begin, buffers_[each].end,
          [this](const PlacedChunks::Chunk& chunk) { taken_.emplace_back(chunk.offset, chunk.offset_end); });
      const std::uint64_t steps = looked_at + 1 + (taken_.size() - before) * Work::steps_of_sorting;
      if (work_ != nullptr && !work_->spend(steps)) break;
    }
    std::sort(taken_.begin(), taken_.end());
  }

  std::span<const PackedBuffer> buffers_;
  std::uint64_t alignment_, size_ = 0;
  Work* const work_;
  PlacedChunks chunks_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken_;  // The last query's, kept to reuse its memory.
};

struct Turn {
  std::uint32_t buffer;
  std::vector<std::uint32_t> together;
  std::int64_t last_end;
};

// The buffers that need their own place, in the order in which they are placed.
std::vector<Turn> turns_of(std::span<const PackedBuffer> buffers, PackingOrder order, Work* work = nullptr) {
  std::vector<Turn> turns;
  std::vector<std::uint32_t> seen_by(buffers.size());
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].needs_place || buffers[i].size == 0) continue;
    if (work != nullptr && work->is_over()) break;
    Turn& turn = turns.emplace_back(Turn{i, together_with(buffers, i, seen_by), buffers[i].end});
    for (const std::uint32_t each : turn.together) turn.last_end = std::max(turn.last_end, buffers[each].end);
    if (work != nullptr) work->spend(turn.together.size());
  }
  std::stable_sort(turns.begin(), turns.end(), [&](const Turn& one, const Turn& other) {
    const PackedBuffer &a = buffers[one.buffer], &b = buffers[other.buffer];
    if (order == PackingOrder::spatial) {
      if (a.size != b.size) return a.size > b.size;
      return a.end - a.begin > b.end - b.begin;
    }
    const std::int64_t a_lives = one.last_end - a.begin, b_lives = other.last_end - b.begin;
    return a_lives != b_lives ? a_lives > b_lives : a.size > b.size;
  });
  return turns;
}

}  // namespace

std::uint32_t BufferTimes::alloc(std::uint64_t size) {
  const auto number = static_cast<std::uint32_t>(buffers_.size());
  buffers_.push_back({size, clock_, -1, true, {}});
  if (size > 0) ++clock_;
  return number;
}

std::uint32_t BufferTimes::share_with(std::uint32_t other, std::uint64_t size) {
  const std::uint32_t number = alloc(size);
  buffers_[number].needs_place = false;
  if (size > 0) buffers_[other].colocations.push_back(number);
  return number;
}

void BufferTimes::free(std::uint32_t buffer) {
  buffers_[buffer].end = clock_;
  if (buffers_[buffer].size > 0) ++clock_;
}

std::vector<PackedBuffer> BufferTimes::finish() {
  for (PackedBuffer& buffer : buffers_)
    if (buffer.end < 0) buffer.end = clock_;
  return std::move(buffers_);
}

PackedHeap pack_heap(std::span<const PackedBuffer> buffers, PackingOrder order, std::uint64_t alignment, Work* work) {
  PackedHeap packed;
  packed.offsets.resize(buffers.size());
  Heap heap(buffers, alignment, work);
  for (const Turn& turn : turns_of(buffers, order, work)) {
    heap.place(turn.together, heap.find_place(turn.together), packed.offsets);
    if (work != nullptr && work->is_over()) break;
  }
  packed.size = heap.size();
  return packed;
}

PackedHeap pack_heap(std::span<const PackedBuffer> buffers, std::uint64_t alignment, Work* work) {
  PackedHeap spatial = pack_heap(buffers, PackingOrder::spatial, alignment, work);
  PackedHeap temporal = pack_heap(buffers, PackingOrder::temporal, alignment, work);
  return temporal.size < spatial.size ? temporal : spatial;
}

PackedHeaps pack_heaps(std::span<const PackedBuffer> buffers, PackingOrder order, std::uint64_t alignment,
                       std::uint64_t limit) {
  PackedHeaps packed;
  packed.heap_of.resize(buffers.size());
  packed.offsets.resize(buffers.size());
  std::vector<Turn> waiting = turns_of(buffers, order);
  while (!waiting.empty()) {
    Heap heap(buffers, alignment, nullptr);
    std::vector<Turn> later;
    for (Turn& turn : waiting) {
      const std::uint64_t offset = heap.find_place(turn.together);
      if (heap.size() > 0 && heap.size_with(turn.together, offset) > limit) {
        later.push_back(std::move(turn));
        continue;
      }
      heap.place(turn.together, offset, packed.offsets);
      for (const std::uint32_t each : turn.together)
        packed.heap_of[each] = static_cast<std::uint32_t>(packed.sizes.size());
    }
    packed.sizes.push_back(heap.size());
    packed.size += heap.size();
    waiting = std::move(later);
  }
  return packed;
}

}  // namespace hbmscope::allocator::tpu
