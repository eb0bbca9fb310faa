// Live blocks in about nine bytes each, for keyframes: columns of some hundred rows, packed by packed_numbers.h.
//
// Most blocks directly follow the previous one and need no address, and most requested sizes equal the block size. What
// remains is the size, the allocation event, the slot and the stack.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/wire/records.h"

namespace hbmscope {

// Packs some hundred numbers into a few bits each: relative to the smallest, without the low bits that they share, with
// as many bits as most of them need. The upper bits of the larger ones follow, with their row numbers.
//
// For memory only: one process writes and reads a keyframe. Ten times as fast as columns under zstd at about the same
// size, because these values (slots, allocation times) hardly repeat.
constexpr std::size_t packed_numbers_max = 256;   // Per call.
constexpr std::size_t packed_numbers_behind = 8;  // That many readable bytes must follow the last numbers.

// The smallest is found by signed comparison, so that -1 is near 0.
void pack_numbers(std::span<const std::uint64_t> numbers, std::vector<std::uint8_t>& out);
// Reads as many as were packed. Returns where the next ones begin.
const std::uint8_t* unpack_numbers(const std::uint8_t* at, std::span<std::uint64_t> numbers);
const std::uint8_t* unpack_numbers(const std::uint8_t* at, std::span<std::uint32_t> numbers);  // Their lower halves.

// Live blocks of one heap, column by column, few enough for the L1 cache. The rows behind a piece are the caller's to
// use.
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
  // Allocation ids are stored relative to `position`, since most are close to it.
  explicit PackedBlocks(std::uint64_t position = 0) : position_(position) {}

  // Compact if each heap's blocks come together and in address order.
  void add(const wire::LiveRecord& block) {
    if (!waiting_.empty() && (waiting_.size() == rows_max || waiting_.front().heap != block.heap)) pack();
    waiting_.push_back(block);
  }
  // The blocks of another one, which is finished, follow.
  void append(const PackedBlocks& more);
  void finish();  // Call after the last add() and before reading.

  // In the order of add(): take(heap, rows) is called after up to piece_rows_max blocks of one heap were written to the
  // first rows of the columns.
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

// Vacant slots, in the order in which they wait.
std::vector<std::uint8_t> pack_slots(std::span<const std::uint32_t> slots);
std::vector<std::uint32_t> unpack_slots(std::span<const std::uint8_t> packed, std::size_t count);

}  // namespace hbmscope
