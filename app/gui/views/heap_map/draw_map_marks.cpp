#include "app/gui/views/heap_map/draw_map_marks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "analysis/query/trace_user_code.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/heap_raster.h"
#include "app/gui/core/span_text.h"
#include "app/gui/look/block_name.h"
#include "app/gui/look/drawing.h"

namespace hbmscope::gui {
namespace {

// A block's position on the line, in whole pixels from the corner of the picture.
struct PixelRange {
  std::int64_t begin = 0, end = 0;
};

PixelRange pixels_of(const HeapLine& line, const HeapMapView& view, const HeapSpan& span) {
  const auto begin = static_cast<std::int64_t>(std::lround(line.px_of(span.begin))) - view.origin;
  const auto end = static_cast<std::int64_t>(std::lround(line.px_of_end(span.end()))) - view.origin;
  return {begin, std::max(end, begin + 3)};
}

struct RowBox {
  std::int64_t row = 0, begin = 0, end = 0;  // In px within the row.
};

std::int64_t row_of(std::int64_t px, int width) {
  return px >= 0 ? px / width : (px - width + 1) / width;
}

template <class Visit>
void for_each_row(const PixelRange& pixels, const HeapMapView& view, const Visit& visit) {
  const std::int64_t width = view.width;
  const std::int64_t first = std::max<std::int64_t>(-1, row_of(pixels.begin, view.width));
  const std::int64_t last = std::min<std::int64_t>(view.rows, row_of(pixels.end - 1, view.width));
  for (std::int64_t row = first; row <= last; ++row)
    visit(
        RowBox{row, std::max<std::int64_t>(0, pixels.begin - row * width), std::min(width, pixels.end - row * width)});
}

// What fits, in one line (block_name.h); in a row that is high enough, the function, its line and the size in three.
std::vector<std::string> name_lines(const std::string& name, const std::string& size, float room, bool is_high) {
  std::vector<std::string> lines;
  if (!is_high || name.starts_with('(')) {
    if (const std::string words = name_that_fits(name, size, room); !words.empty()) lines = {words};
    return lines;
  }
  const std::size_t place = name.rfind("  ");
  if (place != std::string::npos)
    lines = {name.substr(0, place), name.substr(place + 2), size};
  else
    lines = {name, size};
  std::erase_if(lines, [&](const std::string& words) { return ImGui::CalcTextSize(words.c_str()).x > room; });
  return lines;
}

}  // namespace

std::optional<AddressRange> cell_range(const HeapSpans& spans, const HeapLine& line, std::int64_t px) {
  if (!line.address_at(px)) return std::nullopt;
  const std::size_t region = line.region_at_or_after(px);
  const AddressRange range = spans.regions[region].range;
  const double offset = static_cast<double>(px - line.begin_px(region)) * line.bytes_per_px();
  return AddressRange{range.begin + static_cast<std::uint64_t>(offset),
                      range.begin + static_cast<std::uint64_t>(std::ceil(offset + line.bytes_per_px()))};
}

const HeapSpan* span_in_cell(const HeapSpans& spans, const HeapLine& line, std::int64_t px, std::size_t& count) {
  count = 0;
  const auto found = cell_range(spans, line, px);
  if (!found) return nullptr;
  const AddressRange cell = *found;
  const std::size_t region = line.region_at_or_after(px);
  const HeapSpan* best = spans.find(cell.begin);
  std::uint64_t most = 0;
  for (const HeapSpan* span = best;
       span != nullptr && span < spans.spans.data() + spans.regions[region].last && span->begin < cell.end; ++span) {
    ++count;
    const std::uint64_t inside = AddressRange{span->begin, span->end()}.intersection(cell).size();
    if (inside <= most) continue;
    best = span;
    most = inside;
  }
  return best;
}

void MapMarks::offsets(float left, float width) const {
  const HeapLine line(spans, view);
  const std::vector<EndLabel> ends = end_labels();
  const auto every = static_cast<int>(std::ceil(look.px(30) / static_cast<float>(view.pitch)));
  const float lowest = ImGui::GetWindowPos().y + ImGui::GetWindowHeight() - ImGui::GetTextLineHeight();
  std::string last;
  for (int row = 0; row < view.rows; row += std::max(1, every)) {
    std::int64_t px = view.origin + static_cast<std::int64_t>(row) * view.width;
    if (px >= line.length_px()) break;
    px = std::max<std::int64_t>(0, px);
    const std::uint64_t address = line.address_of_place(px);
    std::string words = offset_text(spans, address);
    // Where three digits don't tell neighbours apart.
    if (words == last)
      words = "+" + text_from_count((address - spans.regions.front().range.begin) >> 20) + " MiB";
    else
      last = words;
    const float high = ImGui::GetTextLineHeight();
    const float middle =
        origin.y + static_cast<float>(row * view.pitch) + (static_cast<float>(view.pitch - 1) - high) / 2;
    const float y = std::clamp(middle, origin.y - look.px(2), std::max(origin.y, lowest));
    // The names of the ends matter more than an offset between others.
    const bool is_taken = std::any_of(
        ends.begin(), ends.end(), [&](const EndLabel& end) { return y < end.y + high - 1 && end.y < y + high - 1; });
    if (is_taken) continue;
    draw.AddText({left + width - ImGui::CalcTextSize(words.c_str()).x, y}, look.role(Role::dim_text), words.c_str());
  }
}

// At multiples of a power of two, and where a region begins. Offsets in whole units if three digits don't tell
// neighbours apart.
void MapMarks::ruler() const {
  const HeapLine line(spans, view);
  const std::uint64_t lowest = spans.regions.front().range.begin, highest = spans.regions.back().range.end;
  const auto wanted = static_cast<std::uint64_t>(static_cast<double>(look.px(110)) * view.bytes_per_px);
  const std::uint64_t step = std::bit_ceil(std::max<std::uint64_t>(256, wanted));
  const bool in_units = (highest - lowest) / step >= 200;
  const int unit = std::min(3, (static_cast<int>(std::bit_width(step)) - 1) / 10);
  constexpr std::array<const char*, 4> units{" B", " KiB", " MiB", " GiB"};
  const float top = origin.y + static_cast<float>(view.pitch);
  float free_from = origin.x, right = origin.x + static_cast<float>(view.width);
  if (spans.has_two_ends && view.origin + view.width >= line.length_px()) {
    right -= ImGui::CalcTextSize("upper end").x;
    draw.AddText({right, top + look.px(4)}, look.role(Role::dim_text), "upper end");
    right -= look.px(12);
  }
  const auto put = [&](std::uint64_t address) {
    const auto px = std::lround(line.px_of(address)) - view.origin;
    if (px < 0 || px >= view.width) return;
    const float x = origin.x + static_cast<float>(px);
    if (x < free_from) return;
    const std::uint64_t offset = address - lowest;
    std::string words = offset_text(spans, address);
    if (in_units) words = "+" + text_from_count(static_cast<std::int64_t>(offset >> (10 * unit))) + units[unit];
    if (spans.has_two_ends && offset == 0) words += ", lower end";
    const float width = ImGui::CalcTextSize(words.c_str()).x;
    const float right_most = right - width;
    if (right_most < free_from) return;
    draw.AddLine({x + 0.5F, top}, {x + 0.5F, top + look.px(4)}, look.role(Role::dim_text));
    draw.AddText({std::min(x, right_most), top + look.px(4)}, look.role(Role::dim_text), words.c_str());
    free_from = std::min(x, right_most) + width + look.px(12);
  };
  for (std::size_t i = line.region_at_or_after(view.origin);
       i < spans.regions.size() && line.begin_px(i) < view.origin + view.width; ++i) {
    const AddressRange region = spans.regions[i].range;
    if (!in_units || (region.begin - lowest) % step == 0) put(region.begin);
    const std::uint64_t from =
        std::max(region.begin, line.address_at(std::max(view.origin, line.begin_px(i))).value_or(region.begin));
    for (std::uint64_t at = lowest + (from - lowest + step - 1) / step * step;
         at < region.end && line.px_of(at) < static_cast<double>(view.origin + view.width); at += step)
      put(at);
  }
}

void MapMarks::names(const HeapMapAnswer& answer) const {
  if (static_cast<float>(view.pitch) < ImGui::GetTextLineHeight()) return;
  const HeapLine line(spans, view);
  const Stream& stream = answer.moment->stream(answer.heap);
  const StreamState& state = answer.moment->state_of(answer.heap);
  // Only blocks that begin in the picture, and at most as many as can be wide enough.
  const std::size_t region = line.region_at_or_after(std::max<std::int64_t>(0, view.origin));
  if (region == spans.regions.size()) return;
  const auto from = line.address_at(std::max(view.origin, line.begin_px(region)));
  const HeapSpan* span = from ? spans.find(*from) : nullptr;
  if (span == nullptr) return;
  const HeapSpan* const last = spans.spans.data() + spans.spans.size();
  const std::int64_t cells = static_cast<std::int64_t>(view.width) * view.rows;
  constexpr int looked_at_most = 20'000;
  const bool is_high = static_cast<float>(view.pitch) >= 3 * ImGui::GetTextLineHeight();
  const float least = look.px(is_high ? 40 : 60);
  for (int looked_at = 0; span != last && looked_at < looked_at_most; ++span, ++looked_at) {
    if (static_cast<double>(span->size) < static_cast<double>(least) * view.bytes_per_px) continue;
    const PixelRange pixels = pixels_of(line, view, *span);
    if (pixels.begin >= cells) break;
    if (span->kind != SpanKind::block) continue;
    const LiveBlock block = state.slots()[span->slot];
    const std::string size = text_from_bytes(static_cast<std::int64_t>(span->size));
    const std::string name = name_of_block(labels, stream.definitions(), block);
    // In the first of its rows that is wide enough.
    bool is_named = false;
    for_each_row(pixels, view, [&](const RowBox& box) {
      const auto room = static_cast<float>(box.end - box.begin) - look.px(8);
      if (is_named || box.row < 0 || box.row >= view.rows || room < least - look.px(8)) return;
      is_named = true;
      const std::vector<std::string> lines = name_lines(name, size, room, is_high);
      const Color fill = color_of_shade(look.theme, spans.coloring, span->shade);
      const float height = static_cast<float>(lines.size()) * ImGui::GetTextLineHeight();
      float y = std::floor(origin.y + static_cast<float>(box.row * view.pitch) +
                           (static_cast<float>(view.pitch - 1) - height) / 2);
      for (const std::string& words : lines) {
        draw.AddText({origin.x + static_cast<float>(box.begin) + look.px(4), y}, look.color(text_on(fill)),
                     words.c_str());
        y += ImGui::GetTextLineHeight();
      }
    });
  }
}

std::vector<MapMarks::EndLabel> MapMarks::end_labels() const {
  std::vector<EndLabel> labels;
  if (!spans.has_two_ends || view.is_strip()) return labels;
  const float line = ImGui::GetTextLineHeight();
  // Below the offset of the first row.
  const float first = std::max(line, (static_cast<float>(view.pitch - 1) + line) / 2);
  if (view.origin <= 0) labels.push_back({origin.y + first, "lower end"});
  const std::int64_t last = (HeapLine(spans, view).length_px() - 1 - view.origin) / view.width;
  if (last < view.rows && last > 1)
    labels.push_back({origin.y + static_cast<float>((last + 1) * view.pitch) - line, "upper end"});
  return labels;
}

void MapMarks::ends(float left) const {
  for (const EndLabel& label : end_labels()) draw.AddText({left, label.y}, look.role(Role::text), label.words);
}

void MapMarks::largest_free() const {
  const auto size_of = [&](std::size_t span) { return text_from_bytes(spans.spans[span].size); };
  if (!spans.has_two_ends) {
    if (spans.largest_free)
      flag(spans.spans[*spans.largest_free], "largest free block " + size_of(*spans.largest_free));
    return;
  }
  const auto &lower = spans.largest_lower, &upper = spans.largest_upper;
  if (lower && lower == upper) return flag(spans.spans[*lower], "largest free block " + size_of(*lower));
  if (lower) flag(spans.spans[*lower], "largest free block (lower end) " + size_of(*lower));
  if (upper) flag(spans.spans[*upper], "largest free block (upper end) " + size_of(*upper));
}

// Above the block or below it, connected by a line.
void MapMarks::flag(const HeapSpan& span, const std::string& words) const {
  const HeapLine line(spans, view);
  const PixelRange pixels = pixels_of(line, view, span);
  const ImVec2 size = ImGui::CalcTextSize(words.c_str());
  const float width = size.x + look.px(8), height = size.y + look.px(2);
  RowBox first;
  bool is_seen = false;
  for_each_row(pixels, view, [&](const RowBox& box) {
    if (box.row < 0 || box.row >= view.rows || (is_seen && box.end - box.begin <= first.end - first.begin)) return;
    first = box;
    is_seen = true;
  });
  if (!is_seen) return;
  const float left = origin.x + static_cast<float>(first.begin),
              top = origin.y + static_cast<float>(first.row * view.pitch);
  const float right_most = origin.x + static_cast<float>(view.width) - width;
  // Inside the free block if it is large enough, so that the flag covers nothing; always at the head of a strip, which
  // has no row above or below.
  const bool is_wide = static_cast<float>(first.end - first.begin) >= width + look.px(12);
  const bool is_inside =
      (is_wide || view.is_strip()) && static_cast<float>(view.pitch) >= height + look.px(view.is_strip() ? 4 : 1);
  const float inset = is_inside && is_wide ? look.px(6) : 0;
  const bool fits_above = top - height - look.px(6) >= origin.y;
  const ImVec2 at{std::clamp(left + inset, origin.x, std::max(origin.x, right_most)),
                  is_inside ? top + (view.is_strip() ? look.px(2) : (static_cast<float>(view.pitch) - 1 - height) / 2)
                  : fits_above ? top - height - look.px(6)
                               : top + static_cast<float>(view.pitch) + look.px(6)};
  const ImU32 ink = look.role(Role::largest_free);
  const float middle = std::min(left + look.px(6), origin.x + static_cast<float>(first.end) - 1);
  if (!is_inside)
    draw.AddLine({middle, fits_above ? at.y + height : at.y},
                 {middle, fits_above ? top : top + static_cast<float>(view.pitch)}, ink, look.px(2));
  draw.AddRectFilled(at, {at.x + width, at.y + height}, ink, look.px(2));
  draw.AddText({at.x + look.px(4), at.y + look.px(1)}, look.color(text_on(look.rgb(Role::largest_free))),
               words.c_str());
}

void MapMarks::outline(const HeapSpan& span, Role role, float thickness, float inset) const {
  const HeapLine line(spans, view);
  const PixelRange pixels = pixels_of(line, view, span);
  const ImU32 ink = look.role(role);
  const std::int64_t width = view.width;
  const auto inside = [&](std::int64_t px) { return px >= pixels.begin && px < pixels.end; };
  const auto fill = [&](float x0, float y0, float x1, float y1) {
    if (x1 > x0) draw.AddRectFilled({origin.x + x0, origin.y + y0}, {origin.x + x1, origin.y + y1}, ink);
  };
  for_each_row(pixels, view, [&](const RowBox& box) {
    if (box.row < 0 || box.row >= view.rows || box.begin >= box.end) return;
    const float top = static_cast<float>(box.row * view.pitch) + inset;
    const float bottom = static_cast<float>((box.row + 1) * view.pitch - 1) - inset;
    const bool is_first = inside(box.row * width + box.begin) && !inside(box.row * width + box.begin - 1);
    const bool is_last = !inside(box.row * width + box.end);
    const float left = static_cast<float>(box.begin) + (is_first ? inset : 0);
    const float right = static_cast<float>(box.end) - (is_last ? inset : 0);
    // Whether the row above belongs to the same block.
    const auto above = std::clamp(pixels.begin - (box.row - 1) * width, box.begin, box.end);
    const auto below = std::clamp(pixels.end - (box.row + 1) * width, box.begin, box.end);
    fill(left, top, std::min(right, static_cast<float>(above)), top + thickness);
    fill(std::max(left, static_cast<float>(below)), bottom - thickness, right, bottom);
    if (is_first) fill(left, top, left + thickness, bottom);
    if (is_last) fill(right - thickness, top, right, bottom);
  });
}

void MapMarks::ticks(const std::vector<bool>& hit_rows, const HeapSpan* selected) const {
  if (view.is_strip()) return;  // It has one row, and the minimap above it shows the places.
  const auto tick = [&](std::int64_t row, Role role) {
    const float top = origin.y + static_cast<float>(row * view.pitch), width = look.px(4);
    draw.AddRectFilled({origin.x - width, top}, {origin.x - 1, top + static_cast<float>(view.pitch - 1)},
                       look.role(role));
  };
  for (std::size_t row = 0; row < hit_rows.size(); ++row)
    if (hit_rows[row]) tick(static_cast<std::int64_t>(row), Role::dim_text);
  if (selected == nullptr) return;
  const HeapLine line(spans, view);
  for_each_row(pixels_of(line, view, *selected), view, [&](const RowBox& box) {
    if (box.row >= 0 && box.row < view.rows && box.begin < box.end) tick(box.row, Role::selection);
  });
}

void MapMarks::select(const HeapSpan& span) const {
  const float outer = std::max(2.0F, std::round(look.px(2)));
  outline(span, Role::selection, outer);
  outline(span, Role::selection_inner, 1, outer);
}

}  // namespace hbmscope::gui
