// Live blocks in about nine bytes each, for keyframes: columns of some hundred rows, packed by packed_numbers.h.
//
// Blocks that lie side by side need no address, and most lie so; what was asked mostly is what was taken. What is left
// is the size, when the block came, its slot and its stack.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/trace/packed_numbers.h"
#include "collector/wire/records.h"

namespace hbmscope {

// Live blocks of one heap, column by column, as far as the nearest cache holds them. What its user puts behind a piece
// is his own.
struct LiveColumns {
  static constexpr std::size_t piece_rows_max = packed_numbers_max;
  static constexpr std::size_t rows_max = 2 * piece_rows_max;
  template <class Number>
  using Column = std::array<Number, rows_max>;
  // As in a LiveRecord.
  Column<std::uint64_t> address, size, requested, event;
  Column<std::uint32_t> slot, stack, stream, tag, flags;
};

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

  // In the order in which they were added: take(heap, rows) after so many blocks of one heap, piece_rows_max at most,
  // were written to the first rows of the columns.
  template <class Take>
  void for_each_piece(LiveColumns& columns, const Take& take) const {
    const std::uint8_t* at = bytes_.data();
    for (const Piece& piece : pieces_) {
      at = unpack(at, piece.rows, columns);
      take(piece.heap, std::size_t{piece.rows});
    }
  }

  std::uint64_t memory_bytes() const { return bytes_.capacity() + pieces_.capacity() * sizeof(Piece); }

 private:
  static constexpr std::size_t rows_max = LiveColumns::piece_rows_max;
  struct Piece {
    std::uint32_t heap = 0, rows = 0;
  };
  void pack();
  const std::uint8_t* unpack(const std::uint8_t* at, std::size_t rows, LiveColumns& columns) const;

  std::uint64_t position_;
  std::vector<wire::LiveRecord> waiting_;
  std::vector<Piece> pieces_;
  std::vector<std::uint8_t> bytes_;
};

// Slots that wait to be taken, in their order.
std::vector<std::uint8_t> pack_slots(std::span<const std::uint32_t> slots);
std::vector<std::uint32_t> unpack_slots(std::span<const std::uint8_t> packed, std::size_t count);

}  // namespace hbmscope
