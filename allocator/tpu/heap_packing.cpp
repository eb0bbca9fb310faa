#include "allocator/tpu/heap_packing.h"

#include <algorithm>
#include <map>

#include "allocator/tpu/placed_chunks.h"

namespace hbmscope::allocator::tpu {
namespace {

constexpr std::uint64_t heap_end = std::uint64_t{1} << 63;

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// Of a buffer and all that lies where it does, itself first.
std::vector<std::uint32_t> together_with(std::span<const PackedBuffer> buffers, std::uint32_t buffer) {
  std::vector<std::uint32_t> all = {buffer};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const std::uint32_t other : buffers[all[i]].colocations)
      if (std::find(all.begin(), all.end(), other) == all.end()) all.push_back(other);
  return all;
}

// One heap as it fills.
class Heap {
 public:
  Heap(std::span<const PackedBuffer> buffers, std::uint64_t alignment) : buffers_(buffers), alignment_(alignment) {}

  // Where a buffer goes with all that lies where it does.
  std::uint64_t find_place(std::uint32_t buffer, const std::vector<std::uint32_t>& together) const {
    std::uint64_t largest = 0;
    for (const std::uint32_t each : together) largest = std::max(largest, buffers_[each].size);
    const auto free = free_pieces(buffer, together, largest);
    std::uint64_t best_size = 0, best = 0;
    bool has_best = false;
    for (const auto& [begin, end] : free) {
      const std::uint64_t offset = rounded_up(begin, alignment_);
      if (offset + largest > end || (has_best && end - begin >= best_size)) continue;
      best_size = end - begin;
      best = offset;
      has_best = true;
    }
    return best;  // The piece without an end always holds it.
  }

  void place(const std::vector<std::uint32_t>& together, std::uint64_t offset, std::vector<std::uint64_t>& offsets) {
    for (const std::uint32_t each : together) {
      const PackedBuffer& buffer = buffers_[each];
      offsets[each] = offset;
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
  // Begin to end. What is before a chunk stays free if it holds the buffer itself, what is after it if it holds the
  // largest of those together.
  std::map<std::uint64_t, std::uint64_t> free_pieces(std::uint32_t buffer, const std::vector<std::uint32_t>& together,
                                                     std::uint64_t largest) const {
    std::map<std::uint64_t, std::uint64_t> free = {{0, heap_end}};
    const std::uint64_t own = buffers_[buffer].size;
    const auto cut = [&](const PlacedChunks::Chunk& chunk) {
      if (chunk.offset == chunk.offset_end) return;
      auto piece = free.upper_bound(chunk.offset);
      if (piece != free.begin()) --piece;
      while (piece != free.end() && piece->first < chunk.offset_end) {
        const auto [begin, end] = *piece;
        if (end <= chunk.offset) {
          ++piece;
          continue;
        }
        piece = free.erase(piece);
        if (chunk.offset > begin && chunk.offset - begin >= own) free.emplace(begin, chunk.offset);
        const std::uint64_t after = rounded_up(chunk.offset_end, alignment_);
        if (after < end && end - after >= largest) free.emplace(after, end);
      }
    };
    for (const std::uint32_t each : together) chunks_.for_each_alive(buffers_[each].begin, buffers_[each].end, cut);
    return free;
  }

  std::span<const PackedBuffer> buffers_;
  std::uint64_t alignment_, size_ = 0;
  PlacedChunks chunks_;
};

struct Turn {
  std::uint32_t buffer;
  std::vector<std::uint32_t> together;
  std::int64_t last_end;
};

// Those that get a place of their own, in the order in which they do.
std::vector<Turn> turns_of(std::span<const PackedBuffer> buffers, PackingOrder order) {
  std::vector<Turn> turns;
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].needs_place || buffers[i].size == 0) continue;
    Turn& turn = turns.emplace_back(Turn{i, together_with(buffers, i), buffers[i].end});
    for (const std::uint32_t each : turn.together) turn.last_end = std::max(turn.last_end, buffers[each].end);
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

PackedHeap pack_heap(std::span<const PackedBuffer> buffers, PackingOrder order, std::uint64_t alignment) {
  PackedHeap packed;
  packed.offsets.resize(buffers.size());
  Heap heap(buffers, alignment);
  for (const Turn& turn : turns_of(buffers, order))
    heap.place(turn.together, heap.find_place(turn.buffer, turn.together), packed.offsets);
  packed.size = heap.size();
  return packed;
}

PackedHeap pack_heap(std::span<const PackedBuffer> buffers, std::uint64_t alignment) {
  PackedHeap spatial = pack_heap(buffers, PackingOrder::spatial, alignment);
  PackedHeap temporal = pack_heap(buffers, PackingOrder::temporal, alignment);
  return temporal.size < spatial.size ? temporal : spatial;
}

PackedHeaps pack_heaps(std::span<const PackedBuffer> buffers, PackingOrder order, std::uint64_t alignment,
                       std::uint64_t limit) {
  PackedHeaps packed;
  packed.heap_of.resize(buffers.size());
  packed.offsets.resize(buffers.size());
  std::vector<Turn> waiting = turns_of(buffers, order);
  while (!waiting.empty()) {
    Heap heap(buffers, alignment);
    std::vector<Turn> later;
    for (Turn& turn : waiting) {
      const std::uint64_t offset = heap.find_place(turn.buffer, turn.together);
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
