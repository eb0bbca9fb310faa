// The columns of the table of blocks. The window and the copied text use the same words.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "app/gui/core/app_state.h"
#include "app/gui/core/table_text.h"

namespace hbmscope::gui {

// One per BlockOrder, in its order: Size, Requested, Rounding, Age, Lifetime, Address, Heap, Own code, ...
struct BlockColumn {
  std::string_view title, help;
  bool is_number;
};
inline constexpr std::size_t block_column_count = 13;
const std::array<BlockColumn, block_column_count>& block_columns();

// An unknown value is shown as "?"; `exact` holds what is known about it.
TableCell cell_of_block(const BlocksAnswer& answer, std::uint32_t row, const BlockFacts& facts, BlockOrder column);

// "2,104 of 1,203,551 blocks, 4.21 GiB"
std::string blocks_sentence(const BlocksAnswer& answer);

// `rows`: the rows to copy, in the order of the screen.
TextTable table_from_blocks(const BlocksAnswer& answer, std::span<const std::uint32_t> rows);

// "1.20 s", "340 µs": an age or a lifetime.
std::string text_from_duration_ns(std::int64_t ns);

}  // namespace hbmscope::gui
