// Live blocks in about nine bytes each, for keyframes: columns of some hundred rows, packed by packed_numbers.h.
//
// Blocks that lie side by side need no address, and most lie so; what was asked mostly is what was taken. What is left
// is the size, when the block came, its slot and its stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/trace/packed_numbers.h"
#include "collector/wire/records.h"

namespace hbmscope {

class PackedBlocks {
 public:
  // Allocation ids are counted back from `position`, near which most of them are.
  explicit PackedBlocks(std::uint64_t position = 0) : position_(position) {}

  // Small where each heap's come one after the other, in the order of addresses.
  void add(const wire::LiveRecord& block) {
    if (!waiting_.empty() && (waiting_.size() == rows_max || waiting_.front().heap != block.heap)) pack();
    waiting_.push_back(block);
  }
  void finish();  // Nothing is added any more, and everything can be read.

  // In the order in which they were added: take(heap, std::span<wire::LiveRecord>), some hundred blocks of one heap.
  // Until the next ones come they are the caller's to change.
  template <class Take>
  void for_each_piece(const Take& take) const {
    std::vector<wire::LiveRecord> rows(rows_max);
    const std::uint8_t* at = bytes_.data();
    for (const Piece& piece : pieces_) {
      const std::span<wire::LiveRecord> part(rows.data(), piece.rows);
      at = unpack(at, piece.heap, part);
      take(piece.heap, part);
    }
  }

  std::uint64_t memory_bytes() const { return bytes_.capacity() + pieces_.capacity() * sizeof(Piece); }

 private:
  // All rows of a piece, as they are used, stay in the nearest cache.
  static constexpr std::size_t rows_max = packed_numbers_max;
  struct Piece {
    std::uint32_t heap = 0, rows = 0;
  };
  void pack();
  const std::uint8_t* unpack(const std::uint8_t* at, std::uint32_t heap, std::span<wire::LiveRecord> rows) const;

  std::uint64_t position_;
  std::vector<wire::LiveRecord> waiting_;
  std::vector<Piece> pieces_;
  std::vector<std::uint8_t> bytes_;
};

// Slots that wait to be taken, in their order.
std::vector<std::uint8_t> pack_slots(std::span<const std::uint32_t> slots);
std::vector<std::uint32_t> unpack_slots(std::span<const std::uint8_t> packed, std::size_t count);

}  // namespace hbmscope
