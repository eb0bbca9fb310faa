#include "app/gui/core/heap_cells.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hbmscope::gui {
namespace {

// Sums up the bytes of one pixel while spans arrive in address order. The unit is pixels, so the total is 1.
class CellSum {
 public:
  void add(const HeapSpan& span, double share, double waste, bool goes_on_before, bool goes_on_after) {
    if (spans_ == 0) {
      first_goes_on_ = goes_on_before;
      first_ = {&span, share};
    }
    ++spans_;
    last_goes_on_ = goes_on_after;
    last_ = {&span, share};
    if (span.kind == SpanKind::block) {
      by_shade_[span.shade] += static_cast<float>(share);
      in_use_ += share - waste;
      waste_ += waste;
      if (span.is_pending) pending_ += share;
    } else if (span.kind == SpanKind::free) {
      free_ += share;
    } else {
      not_identified_ += share;
    }
  }

  bool empty() const { return spans_ == 0; }
  bool holds_one() const { return spans_ == 1; }
  const HeapSpan& only() const { return *first_.span; }
  // If each of two spans continues in a neighbouring pixel, the larger one gets the pixel; on a tie, free memory does.
  const HeapSpan* larger_of_two() const {
    if (spans_ != 2 || !first_goes_on_ || !last_goes_on_) return nullptr;
    if (first_.share == last_.share) return first_.span->kind == SpanKind::free ? first_.span : last_.span;
    return first_.share > last_.share ? first_.span : last_.span;
  }

  MapCell bar(int height, bool is_ordered) const {
    MapCell cell;
    const double in_use = in_use_ + waste_, all = in_use + free_ + not_identified_;
    if (in_use <= 0) {
      cell.fill = not_identified_ > free_ ? MapCell::Fill::not_identified : MapCell::Fill::spans;
      return cell;
    }
    cell.fill = MapCell::Fill::spans;
    int used = std::max(1, static_cast<int>(std::lround(in_use / all * height)));
    // Memory that is not identified is not called free, but it isn't in use either.
    const double rest = free_ + not_identified_;
    if (rest >= 0.05 * all) used = std::min(used, height - 1);
    const int waste = std::min(used - 1, static_cast<int>(std::lround(waste_ / all * height)));
    cell.use = static_cast<std::uint16_t>(used - waste);
    cell.waste = static_cast<std::uint16_t>(waste);
    cell.look = is_ordered ? median() : majority();
    if (pending_ * 2 >= in_use) cell.look |= MapCell::is_pending;
    return cell;
  }

 private:
  Shade majority() const {
    const float half = static_cast<float>(in_use_ + waste_) / 2;
    for (Shade shade = 0; shade < shade_count; ++shade)
      if (by_shade_[shade] >= half) return shade;
    return several_shade;
  }
  Shade median() const {
    const float half = static_cast<float>(in_use_ + waste_) / 2;
    float below = 0;
    for (Shade shade = 0; shade < step_count; ++shade)
      if ((below += by_shade_[shade]) >= half) return shade;
    return several_shade;  // Most of it is unknown.
  }

  struct End {
    const HeapSpan* span = nullptr;
    double share = 0;
  };
  std::array<float, shade_count> by_shade_{};
  double in_use_ = 0, waste_ = 0, free_ = 0, not_identified_ = 0, pending_ = 0;
  int spans_ = 0;
  bool first_goes_on_ = false, last_goes_on_ = false;
  End first_, last_;
};

MapCell full_cell(const HeapSpan& span, int height) {
  MapCell cell;
  cell.fill = span.kind == SpanKind::not_identified ? MapCell::Fill::not_identified : MapCell::Fill::spans;
  if (span.kind == SpanKind::free && span.ends == SpanEnd::lower) cell.look = MapCell::for_lower;
  if (span.kind == SpanKind::free && span.ends == SpanEnd::upper) cell.look = MapCell::for_upper;
  if (span.kind != SpanKind::block) return cell;
  cell.use = static_cast<std::uint16_t>(height);
  cell.look = static_cast<std::uint8_t>(span.shade | (span.is_pending ? MapCell::is_pending : 0));
  return cell;
}

// Addresses and sizes are below 2^63, and converting a signed number to double takes one instruction.
double number(std::uint64_t value) {
  return static_cast<double>(static_cast<std::int64_t>(value));
}
// Avoids the function call of std::ceil on builds that can't assume the processor's rounding instruction.
std::int64_t rounded_up(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return whole + (static_cast<double>(whole) < value ? 1 : 0);
}
// Smaller parts of a pixel are rounding errors.
constexpr double nothing = 1e-9;

// Writes those cells of one region that are in rows [first_row, last_row) of the picture.
class RegionDrawer {
 public:
  RegionDrawer(std::vector<MapCell>& cells, const HeapMapView& view, const HeapSpans& map, const SpanRegion& region,
               std::int64_t begin_px, std::int64_t end_px, int first_row, int last_row)
      : cells_(cells), view_(view), map_(map), region_(region), begin_px_(begin_px) {
    height_ = std::min(0xffff, view.pitch - 1);
    scale_ = 1 / view.bytes_per_px;
    const auto px_of_row = [&](int row) { return view.origin + static_cast<std::int64_t>(row) * view.width; };
    first_ = std::max<std::int64_t>(0, px_of_row(first_row) - begin_px);
    last_ = std::min(end_px, px_of_row(last_row)) - begin_px;
    seen_last_ = std::min(end_px, px_of_row(view.rows)) - begin_px;
  }

  void draw() {
    if (first_ >= last_) return;
    const auto spans_begin = map_.spans.begin() + static_cast<std::ptrdiff_t>(region_.first);
    const auto spans_end = map_.spans.begin() + static_cast<std::ptrdiff_t>(region_.last);
    const auto from =
        region_.range.begin + static_cast<std::uint64_t>(static_cast<double>(first_) * view_.bytes_per_px);
    auto span = std::upper_bound(spans_begin, spans_end, from,
                                 [](std::uint64_t at, const HeapSpan& one) { return at < one.end(); });
    cell_ = first_;
    if (span != spans_end) span += add_tail(*span) ? 1 : 0;
    for (; span != spans_end; ++span) {
      const double begin = number(span->begin - region_.range.begin) * scale_;
      const double end = begin + number(span->size) * scale_;
      if (begin >= static_cast<double>(last_)) break;
      add(*span, begin, end);
    }
    flush();
  }

 private:
  // A span that began in an earlier pixel, and reaches at most into the first one here. True if that was all of it.
  bool add_tail(const HeapSpan& span) {
    const double begin = number(span.begin - region_.range.begin) * scale_, end = begin + number(span.size) * scale_;
    const auto here = static_cast<double>(first_);
    if (begin >= here || static_cast<std::int64_t>(end + nothing) > first_) return false;
    if (end - here > nothing) add_part(span, here, end, end - number(span.waste) * scale_, true, false);
    return true;
  }

  void add(const HeapSpan& span, double begin, double end) {
    const double waste_begin = end - number(span.waste) * scale_;
    auto first = static_cast<std::int64_t>(begin);
    if (first > cell_) {
      flush();
      cell_ = first;
    } else {
      first = cell_;
    }
    // With a million spans, nearly all are tiny: within one pixel, and smaller than it.
    if (end < static_cast<double>(first + 1) && begin > static_cast<double>(first) + nothing) {
      sum_.add(span, end - begin, std::max(0.0, end - std::max(begin, waste_begin)), false, false);
      return;
    }
    const auto whole_begin = rounded_up(begin - nothing);
    const auto whole_end = static_cast<std::int64_t>(end + nothing);
    if (whole_end > whole_begin && whole_end > first_) {
      if (whole_begin > first) add_part(span, begin, static_cast<double>(whole_begin), waste_begin, false, true);
      if (whole_begin >= cell_) flush();
      fill(span, std::max(whole_begin, first_), std::min(whole_end, seen_last_), waste_begin, whole_begin);
      cell_ = whole_end;
      if (end - static_cast<double>(whole_end) > nothing)
        add_part(span, static_cast<double>(whole_end), end, waste_begin, true, false);
      return;
    }
    // It lies in one pixel or across the border of two.
    const double border = static_cast<double>(first + 1);
    if (end <= border + nothing) {
      add_part(span, begin, end, waste_begin, false, false);
      return;
    }
    if (first >= first_) add_part(span, begin, border, waste_begin, false, true);
    flush();
    cell_ = first + 1;
    add_part(span, border, end, waste_begin, true, false);
  }

  void add_part(const HeapSpan& span, double begin, double end, double waste_begin, bool before, bool after) {
    const double waste = std::max(0.0, end - std::max(begin, waste_begin));
    sum_.add(span, end - begin, span.kind == SpanKind::block ? waste : 0, before, after);
  }

  void put(std::int64_t cell, MapCell what) {
    if (cell >= first_ && cell < last_) cells_[static_cast<std::size_t>(begin_px_ + cell - view_.origin)] = what;
  }

  void flush() {
    if (sum_.empty()) return;
    if (const HeapSpan* larger = sum_.larger_of_two()) {
      put(cell_, full_cell(*larger, height_));
    } else if (sum_.holds_one()) {
      put(cell_, full_cell(sum_.only(), height_));
    } else {
      put(cell_, sum_.bar(height_, map_.is_ordered()));
    }
    sum_ = {};
  }

  // `end` may be in a row below those that are drawn here.
  void fill(const HeapSpan& span, std::int64_t begin, std::int64_t end, double waste_begin, std::int64_t span_begin) {
    const std::int64_t last = std::min(end, last_);
    if (begin >= last) return;
    MapCell cell = full_cell(span, height_);
    const auto at = cells_.begin() + static_cast<std::ptrdiff_t>(begin_px_ - view_.origin);
    std::fill(at + begin, at + last, cell);
    if (span.kind == SpanKind::free) {
      // The seam is left out if the row below continues the same span.
      cell.fill = MapCell::Fill::free_inside;
      if (end - view_.width > begin) std::fill(at + begin, at + std::min(last, end - view_.width), cell);
      return;
    }
    if (span.kind != SpanKind::block) return;
    if (begin == span_begin && end - begin >= 4) (at + begin)->look |= MapCell::is_edge;
    const auto waste_from = std::max(begin, static_cast<std::int64_t>(std::lround(waste_begin)));
    for (std::int64_t i = waste_from; i < last; ++i) {
      (at + i)->waste = (at + i)->use;
      (at + i)->use = 0;
    }
  }

  std::vector<MapCell>& cells_;
  const HeapMapView& view_;
  const HeapSpans& map_;
  const SpanRegion& region_;
  const std::int64_t begin_px_;
  int height_ = 0;
  double scale_ = 1;
  std::int64_t first_ = 0, last_ = 0;  // The pixels of the region that are drawn,
  std::int64_t seen_last_ = 0;         // and the end of all that are visible.
  std::int64_t cell_ = 0;              // The pixel that sum_ belongs to.
  CellSum sum_;
};

}  // namespace

void draw_map_cells(std::vector<MapCell>& cells, const HeapSpans& map, const HeapLine& line, const HeapMapView& view,
                    int first_row, int last_row) {
  const auto width = static_cast<std::int64_t>(view.width);
  std::fill(cells.begin() + first_row * width, cells.begin() + last_row * width, MapCell{});
  const std::int64_t begin = view.origin + first_row * width, end = view.origin + last_row * width;
  for (std::size_t i = line.region_at_or_after(std::max<std::int64_t>(0, begin));
       i < map.regions.size() && line.begin_px(i) < end; ++i)
    RegionDrawer(cells, view, map, map.regions[i], line.begin_px(i), line.end_px(i), first_row, last_row).draw();
}

}  // namespace hbmscope::gui
