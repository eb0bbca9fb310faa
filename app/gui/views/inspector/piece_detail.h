// All that is known of the selected block or gap, in the order in which the Inspector says it: what, how much, where,
// when, by whom, beside what; then what the address held, and what else lies in the same pixel of the heap map.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/query/tile_grid.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/table_text.h"

namespace hbmscope::gui {

struct DetailLine {
  std::string name, value;
  std::string exact;                     // In the tooltip; empty: nothing more to say.
  std::optional<std::uint64_t> address;  // Of another piece: a click selects it.
};

struct DetailSection {
  std::string title;
  std::vector<DetailLine> lines;
};

struct StackLine {
  std::string text;
  FrameKey frame;
  bool is_own = false;  // Code of the person's own, not a library's.
};

struct HistoryLine {
  std::string when, size, code;
  std::string exact;    // When it came and went, in full.
  std::uint64_t event;  // At which it came; before the stream: 0.
  bool is_now = false;
};

struct PieceDetail {
  std::string title;
  std::vector<DetailSection> sections;
  std::vector<StackLine> stack;   // Innermost first.
  std::optional<TileGrid> tiles;  // Of a block that is an array with a layout.
  std::string by_whom;            // Says whose stack that is: "By whom", "Who freed it".
};

// `address`: what its history says, where it is of this piece; null while it is worked out.
PieceDetail detail_of_piece(const HeapMapAnswer& map, const HeapPiece& piece, const AddressAnswer* address);

// The row of a history: made when it is drawn, for there may be a hundred thousand.
HistoryLine history_line(const AddressAnswer& address, std::size_t row);

// The blocks that lie in a pixel of the map, largest first.
std::vector<const HeapPiece*> blocks_in(const HeapPieces& pieces, AddressRange cell);

TextTable table_from_piece(const PieceDetail& detail, const AddressAnswer* address);

}  // namespace hbmscope::gui
