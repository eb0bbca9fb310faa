// The single blocks inside the bands of the timeline, where they are large enough to be seen: the live blocks of each
// column, in the order in which they are stacked. A column shows the state that its band shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream_state.h"
#include "app/gui/core/stack_course.h"

namespace hbmscope::gui {

struct StackBlocksQuery {
  std::shared_ptr<const StackCourse> course;  // The course of the bands.
  TimelineSpan span;
  std::size_t columns = 0;
  std::uint64_t least_bytes = 1;  // Smaller blocks aren't told apart.
  friend bool operator==(const StackBlocksQuery&, const StackBlocksQuery&) = default;
};

// A block in a column. In its band, the blocks of one part (lit, or not) hang from the top, the newest first, so that
// what a step adds is what the band grows by; what is too small is below them.
struct PlacedBlock {
  std::uint32_t block = 0;  // Index into StackBlocks::blocks().
  Shade shade = several_shade;
  bool is_lit = true;
  std::uint64_t depth = 0;  // Of its foot, in bytes below the top of its part.
  friend bool operator==(const PlacedBlock&, const PlacedBlock&) = default;
};

class StackBlocks {
 public:
  // Nothing if cancelled.
  static std::optional<StackBlocks> compute(const Trace& trace, StackBlocksQuery query, PassControl* control);

  const StackBlocksQuery& query() const { return query_; }
  const std::vector<LiveBlock>& blocks() const { return blocks_; }
  // When a block of blocks() was freed. Nothing if it lives longer than the span.
  struct End {
    std::uint64_t event = 0;
    std::int64_t time_ns = 0;
    friend bool operator==(const End&, const End&) = default;
  };
  const std::optional<End>& end_of(std::uint32_t block) const { return ends_[block]; }
  std::span<const PlacedBlock> at(std::size_t column) const {
    return std::span(placed_).subspan(columns_[column].first, columns_[column].count);
  }
  // Whether two columns show the same blocks.
  bool are_equal(std::size_t a, std::size_t b) const { return columns_[a] == columns_[b]; }
  std::size_t memory_bytes() const;

 private:
  class Walk;
  struct Column {
    std::size_t first = 0, count = 0;  // In placed_; columns with the same blocks share them.
    friend bool operator==(const Column&, const Column&) = default;
  };

  StackBlocksQuery query_;
  std::vector<LiveBlock> blocks_;
  std::vector<std::optional<End>> ends_;  // As blocks_.
  std::vector<PlacedBlock> placed_;
  std::vector<Column> columns_;
};

}  // namespace hbmscope::gui
