// Everything known about the selected block or gap, in the order of the Inspector: name, size, address, times,
// allocated by, neighbours; then the history of the address, and the other blocks in the same pixel of the heap map.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/query/tile_grid.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/table_text.h"

namespace hbmscope::gui {

struct DetailLine {
  std::string name, value;
  std::string exact;                     // For the tooltip. Empty if there is none.
  std::optional<std::uint64_t> address;  // Address of another block, which a click selects.
  std::optional<HeapKey> heap = {};      // A click shows this heap first. Empty if the block is in the same heap.
  std::optional<MomentName> at = {};     // The time after the event, which a click shows.
};

struct DetailSection {
  std::string title;
  std::vector<DetailLine> lines;
};

struct StackLine {
  std::string text;
  FrameKey frame;
  bool is_own = false;  // Your code rather than a library's.
};

struct HistoryLine {
  std::string when, size, code;
  std::string exact;    // The full times of its allocation and release.
  std::uint64_t event;  // Its allocation. 0 means before the stream.
  bool is_now = false;
};

struct SpanDetail {
  std::string title;
  std::vector<DetailSection> sections;
  std::vector<StackLine> stack;   // Innermost first.
  std::optional<TileGrid> tiles;  // For blocks that hold an array with a layout.
  std::string stack_heading;      // The heading of the stack: "Allocated by", "Released by".
};

// `address`: the history of its address; null while it is being computed. `labels`: of the heap's stream; null:
// unknown.
SpanDetail detail_of_span(const HeapMapAnswer& map, const HeapSpan& span, const AddressAnswer* address,
                          const BlockLabels* labels = nullptr);

// "13 of 180 allocations, oldest first"
std::string title_of_history(std::size_t shown, std::size_t all);
// A row of the history, built when it is drawn, since there can be a hundred thousand.
HistoryLine history_line(const AddressAnswer& address, std::size_t row);

// The blocks in a pixel of the map, largest first.
std::vector<const HeapSpan*> blocks_in(const HeapSpans& spans, AddressRange cell);

TextTable table_from_span(const SpanDetail& detail, const AddressAnswer* address);

}  // namespace hbmscope::gui
