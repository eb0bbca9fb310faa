#include "app/gui/views/timeline/draw_timeline_marks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/query/heap_rows.h"
#include "analysis/units/format.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/icons.h"

namespace hbmscope::gui {
namespace {

constexpr float snap_px = 4;

// Labels stand in a row of their own above the lanes, so that they never cover data.
struct LabelRow {
  float y = 0;
  std::vector<std::pair<float, float>> taken{};  // From left to right edge.
  std::vector<MarkLabel> labels{};

  void take(float from, float to, std::optional<std::uint64_t> position = {}, std::string tip = {}) {
    taken.emplace_back(from, to);
    labels.push_back({{from, y}, {to, y + ImGui::GetTextLineHeight()}, position, std::move(tip)});
  }
  bool has_room(float from, float to) const {
    return std::none_of(taken.begin(), taken.end(),
                        [&](const auto& one) { return from < one.second && to > one.first; });
  }
};

// A flag with text, since state is never shown by colour alone. Right of x, or left of it where there is no room.
void draw_flag(ImDrawList& draw, const Look& look, const TimelinePicture& picture, float x, LabelRow& row,
               std::string words, Role role, std::optional<std::uint64_t> position = {}) {
  const std::string tip = words;
  const float margin = look.px(8);
  words = shortened(words, std::max(x - picture.left, picture.right() - x) - margin);
  const ImVec2 size = ImGui::CalcTextSize(words.c_str());
  const float left = x + size.x + margin > picture.right() ? x - size.x - margin : x;
  draw.AddRectFilled({left, row.y}, {left + size.x + margin, row.y + size.y}, look.role(role), look.px(2));
  draw.AddText({left + margin / 2, row.y}, look.color(text_on(look.rgb(role))), words.c_str());
  row.take(left, left + size.x + margin, position, position ? tip + "\nClick to go there" : "");
}

// Above the lanes, between the ends of the selection, and on no other label.
void draw_range_label(ImDrawList& draw, const Look& look, const TimelinePicture& picture, const RangeLabel& range,
                      LabelRow& row) {
  const float from = picture.x_of_axis(static_cast<double>(range.span.begin)),
              to = picture.x_of_axis(static_cast<double>(range.span.end));
  if (range.span.empty() || to < picture.left || from > picture.right()) return;
  const float left = std::max(from, picture.left), right = std::max(left + 1, std::min(to, picture.right()));
  const float foot = row.y + ImGui::GetTextLineHeight() + look.px(1);
  draw.AddLine({left, foot}, {right, foot}, look.role(Role::text), look.px(1));
  for (const float end : {left, right})
    draw.AddLine({end, foot}, {end, picture.top}, look.role(Role::text), look.px(1));
  const float width = ImGui::CalcTextSize(range.words.c_str()).x, margin = look.px(6), last = picture.right() - width;
  const float middle = std::clamp((left + right - width) / 2, picture.left, std::max(picture.left, last));
  float at = middle;
  for (float away = 0; away < static_cast<float>(picture.width); away += margin)
    for (const float one : {middle - away, middle + away})
      if (one >= picture.left && one <= last && row.has_room(one - margin, one + width + margin)) {
        at = one;
        away = static_cast<float>(picture.width);
        break;
      }
  draw.AddText({at, row.y}, look.role(Role::text), range.words.c_str());
  row.take(at, at + width);
}

void draw_peak(ImDrawList& draw, const Look& look, const TimelinePicture& picture, const TimelineMark& peak,
               LabelRow& row) {
  const float x = picture.x_of(peak.at), y = picture.memory.y_of(static_cast<double>(peak.bytes));
  if (x < picture.left || x > picture.right()) return;
  draw.AddTriangleFilled({x, y}, {x - look.px(5), y - look.px(8)}, {x + look.px(5), y - look.px(8)},
                         look.role(Role::text));
  if (!picture.has_labels) return;
  const std::string words =
      "peak " + text_from_bytes(peak.bytes) + (picture.device.empty() ? "" : " on " + picture.device);
  const float width = ImGui::CalcTextSize(words.c_str()).x;
  // Next to the handle of the time, which may stand there.
  const float gap = look.px(8);
  float left = x + gap;
  if (left + width > picture.right() || !row.has_room(left, left + width)) left = x - gap - width;
  while (left > picture.left && !row.has_room(left, left + width)) left -= width / 2;
  if (left < picture.left) return;
  draw.AddText({left, row.y}, look.role(Role::text), words.c_str());
  row.take(left, left + width, peak.position, "The most that was in use\nClick to go there");
}

// Failures that are close to each other share a flag, since their texts would overlap.
void draw_failure_flags(ImDrawList& draw, const Look& look, const TimelinePicture& picture,
                        const std::vector<FailureColumn>& columns, LabelRow& row) {
  for (std::size_t first = 0, next = 0; first < columns.size(); first = next) {
    FailureColumn group = columns[first];
    const auto is_near = [&](const FailureColumn& one) {
      const float words = look.px(group.count + one.count > 1 ? 190 : 110);
      // A flag without room at the right end joins the previous one.
      return one.x - group.x < words || (group.x > picture.right() - 2 * words && one.x > picture.right() - words);
    };
    for (next = first + 1; next < columns.size() && is_near(columns[next]); ++next) {
      group.count += columns[next].count;
      group.bytes = std::max(group.bytes, columns[next].bytes);
    }
    const std::string requested = text_from_request(group.bytes);
    draw_flag(draw, look, picture, group.x, row,
              group.count == 1 ? std::string(icon::warning) + " requested " + requested
                               : std::string(icon::warning) + " " + text_from_count(group.count) +
                                     " failures, requested up to " + requested,
              Role::failure, group.position);
  }
}

void draw_failures(ImDrawList& draw, const Look& look, const TimelinePicture& picture, LabelRow& row) {
  const Lane& memory = picture.memory;
  const std::vector<FailureColumn> columns = failure_columns(picture, picture.source.failures);
  const bool is_crowded = columns.size() > failure_lines_max;
  const float top = is_crowded           ? std::max(memory.from.y, memory.to.y - look.px(8))
                    : picture.has_labels ? row.y
                                         : memory.from.y;
  for (const FailureColumn& column : columns) {
    const float x = column.x + 0.5F;
    for (float y = top; y < memory.to.y; y += look.px(6))
      draw.AddLine({x, y}, {x, std::min(memory.to.y, y + look.px(4))}, look.role(Role::failure));
    // As high as the request.
    if (picture.fits)
      draw.AddLine({x, picture.fits->to.y}, {x, picture.fits->y_of(static_cast<double>(column.bytes))},
                   look.role(Role::failure), is_crowded ? 1 : look.px(3));
  }
  if (picture.has_labels) draw_failure_flags(draw, look, picture, columns, row);
}

// The meaning of the axis for a compiled program or a workload.
const char* order_words(const AppState& state, const TimelineColumns& whole) {
  const Source* source = state.source();
  const bool is_program = source != nullptr && source->trace && whole.heap.stream < source->trace->streams.size() &&
                          !source->trace->streams[whole.heap.stream].definitions().job_fact("hlo_module").empty();
  return is_program ? "program order, by event number" : "event number (this file has no times)";
}

}  // namespace

std::vector<FailureColumn> failure_columns(const TimelinePicture& picture, const std::vector<TimelineMark>& failures) {
  std::vector<FailureColumn> columns;
  for (const TimelineMark& failure : failures) {
    const float x = std::floor(picture.x_of(failure.at));
    if (x < picture.left || x > picture.right()) continue;
    if (columns.empty() || columns.back().x != x) columns.push_back({x, 0, 0, failure.position});
    ++columns.back().count;
    columns.back().bytes = std::max(columns.back().bytes, failure.bytes);
  }
  return columns;
}

// Without times, the right end of the axis says so, and ticks leave room for that text.
void draw_time_axis(ImDrawList& draw, const AppState& state, const TimelinePicture& picture,
                    const TimelineColumns& whole, float y) {
  const Look look(state);
  float right = picture.right() + look.px(8);
  if (!whole.has_times) {
    const char* const words = order_words(state, whole);
    const float left = picture.right() - ImGui::CalcTextSize(words).x;
    draw.AddText({left, y + look.px(4)}, look.role(Role::dim_text), words);
    right = left - look.px(8);
  }
  TimelineColumns axis;
  axis.has_times = whole.has_times;
  axis.span = {std::llround(picture.begin), std::llround(picture.end)};
  const int most = std::max(1, static_cast<int>(static_cast<float>(picture.width) / look.px(110)));
  float free_from = 0;
  for (const AxisTick& tick : ticks_of(axis, most)) {
    const float x = picture.left + static_cast<float>(tick.at * static_cast<double>(picture.width));
    draw.AddLine({x, y}, {x, y + look.px(4)}, look.role(Role::dim_text));
    const float width = ImGui::CalcTextSize(tick.text.c_str()).x;
    const float left = std::max(picture.left - look.px(2), x - width / 2);
    if (left + width > right || left < free_from) continue;
    draw.AddText({left, y + look.px(4)}, look.role(Role::dim_text), tick.text.c_str());
    free_from = left + width + look.px(8);
  }
}

float label_height(const Look& look) {
  return ImGui::GetTextLineHeight() + look.px(12);
}

std::vector<MarkLabel> draw_marks(ImDrawList& draw, const Look& look, const TimelinePicture& picture,
                                  const RangeLabel& range) {
  LabelRow row{picture.top - label_height(look)};
  draw_failures(draw, look, picture, row);
  if (picture.has_labels) draw_range_label(draw, look, picture, range, row);
  if (picture.source.peak) draw_peak(draw, look, picture, *picture.source.peak, row);
  return std::move(row.labels);
}

void draw_selected_range(ImDrawList& draw, const Look& look, const TimelinePicture& picture, double from, double to) {
  const float left = std::clamp(picture.x_of_axis(from), picture.left, picture.right());
  const float right = std::max(left + 1, std::clamp(picture.x_of_axis(to), picture.left, picture.right()));
  if (picture.x_of_axis(to) < picture.left || picture.x_of_axis(from) > picture.right()) return;
  // The outside is dimmed, so that colours inside still match the legend.
  draw.AddRectFilled({picture.left, picture.top}, {left, picture.bottom}, look.role(Role::panel, 0.55F));
  draw.AddRectFilled({right, picture.top}, {picture.right(), picture.bottom}, look.role(Role::panel, 0.55F));
  draw.AddLine({left, picture.top}, {left, picture.bottom}, look.role(Role::text), look.px(1));
  draw.AddLine({right, picture.top}, {right, picture.bottom}, look.role(Role::text), look.px(1));
}

void draw_moment_line(ImDrawList& draw, const Look& look, const TimelinePicture& picture, double at, float scrubber) {
  const float exact = picture.x_of_axis(at);
  if (exact < picture.left - 1 || exact > picture.right() + 1) return;
  const float x = std::floor(std::clamp(exact, picture.left, picture.right() - 1));
  draw.AddRectFilled({x - 1, picture.top - scrubber / 2}, {x + 1, picture.bottom}, look.role(Role::selection));
  draw.AddTriangleFilled({x, picture.top}, {x - look.px(6), picture.top - scrubber},
                         {x + look.px(6), picture.top - scrubber}, look.role(Role::selection));
}

void draw_pin_line(ImDrawList& draw, const Look& look, const TimelinePicture& picture, double at, float scrubber) {
  const float exact = picture.x_of_axis(at);
  if (exact < picture.left - 1 || exact > picture.right() + 1) return;
  const float x = std::floor(std::clamp(exact, picture.left, picture.right() - 1));
  for (float y = picture.top - scrubber; y < picture.bottom; y += look.px(6))
    draw.AddRectFilled({x, y}, {x + 1, std::min(picture.bottom, y + look.px(3))}, look.role(Role::text));
  LabelRow row{picture.bottom - ImGui::GetTextLineHeight() - look.px(4)};
  draw_flag(draw, look, picture, x, row, "pinned", Role::text);
}

void draw_bookmark_flags(ImDrawList& draw, const AppState& state, const TimelinePicture& picture,
                         const TimelineColumns& whole, float scrubber) {
  const Look look(state);
  for (const Bookmark& bookmark : bookmarks_of(state, *state.source())) {
    if (!bookmark.time || bookmark.time->stream != whole.heap.stream) continue;
    const double at = whole.axis_at(whole.share_of(bookmark.time->event, bookmark.time->time_ns));
    const float x = std::floor(picture.x_of_axis(at)), top = picture.top - scrubber;
    if (x < picture.left - 1 || x > picture.right() + 1) continue;
    const ImVec2 end{x + look.px(9), top + scrubber * 0.6F};
    draw.AddRectFilled({x, top}, {x + look.px(1.5F), picture.top}, look.role(Role::text));
    draw.AddTriangleFilled({x, top}, {end.x, (top + end.y) / 2}, {x, end.y}, look.role(Role::text));
    if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect({x - look.px(2), top}, {end.x, picture.top}))
      ImGui::SetTooltip("%s", bookmark.name().c_str());
  }
}

void draw_strip(ImDrawList& draw, PixelCanvas& canvas, const Look& look, const TimelineColumns& whole, StripMarks marks,
                ImVec2 from, ImVec2 to) {
  canvas.begin(from, to, look.role(Role::free));
  const float width = to.x - from.x;
  const auto most = static_cast<double>(std::max<std::uint64_t>(1, whole.in_use_most));
  const std::size_t pixels = static_cast<std::size_t>(std::max(1.0F, width));
  for (std::size_t x = 0; x < pixels; ++x) {
    const std::size_t first = x * whole.columns.size() / pixels,
                      last = std::max(first + 1, (x + 1) * whole.columns.size() / pixels);
    std::uint64_t in_use = 0;
    for (std::size_t i = first; i < last; ++i) in_use = std::max(in_use, whole.columns[i].in_use.most);
    const float height = static_cast<float>(static_cast<double>(in_use) / most) * (to.y - from.y);
    const float left = from.x + static_cast<float>(x);
    canvas.AddRectFilled({left, to.y - height}, {left + 1, to.y}, look.role(Role::several));
  }
  canvas.end(draw);
  float last = from.x - 1;
  for (const TimelineMark& failure : whole.failures) {
    const float x = std::floor(from.x + static_cast<float>(failure.at) * width) + 0.5F;
    if (x != last) draw.AddLine({x, from.y}, {x, to.y}, look.role(Role::failure));
    last = x;
  }
  const auto x_of = [&](double axis) { return from.x + static_cast<float>(whole.share_of_axis(axis)) * width; };
  const TimelineSpan seen = marks.seen.empty() ? whole.whole : marks.seen;
  const float left = x_of(static_cast<double>(seen.begin));
  const float right = std::max(left + look.px(3), x_of(static_cast<double>(seen.end)));
  draw.AddRectFilled(from, {left, to.y}, look.role(Role::panel, 0.6F));
  draw.AddRectFilled({right, from.y}, to, look.role(Role::panel, 0.6F));
  if (!marks.range.empty()) {
    const float begin = x_of(static_cast<double>(marks.range.begin));
    const float end = std::max(begin + 2, x_of(static_cast<double>(marks.range.end)));
    draw.AddRectFilled({begin, from.y}, {end, to.y}, look.role(Role::text, 0.25F));
    draw.AddRectFilled({begin, to.y - look.px(3)}, {end, to.y}, look.role(Role::text));
  }
  draw.AddRect({left, from.y - 1}, {right, to.y + 1}, look.role(Role::text));
  if (!marks.now) return;
  const float now = std::floor(std::clamp(x_of(*marks.now), from.x, to.x - 1));
  draw.AddRectFilled({now - 1, from.y - 1}, {now + 1, to.y + 1}, look.role(Role::selection));
}

std::optional<SnapTarget> find_snap_target(const TimelinePicture& picture, const Look& look, float x) {
  std::optional<SnapTarget> best;
  float nearest = look.px(snap_px) + 0.5F;
  const auto offer = [&](double at, std::uint64_t position, const auto& words) {
    const float distance = std::abs(picture.x_of(at) - x);
    if (distance >= nearest) return;
    nearest = distance;
    best = {position, words()};
  };
  // At equal distance, the first one wins.
  for (const TimelineMark& one : picture.source.failures)
    offer(one.at, one.position, [&] { return "out of memory, requested " + text_from_bytes(one.bytes); });
  if (const auto& peak = picture.source.peak)
    offer(peak->at, peak->position, [&] { return "the peak, " + text_from_bytes(peak->bytes); });
  const auto marker = [](const TimelineMarker& one) {
    return one.count > 1 ? one.name + " and " + text_from_count(static_cast<std::int64_t>(one.count - 1)) + " more"
                         : one.name;
  };
  for (const TimelineMarker& one : picture.source.instants) offer(one.begin, one.position, [&] { return marker(one); });
  for (const TimelineMarker& one : picture.source.stretches)
    offer(one.begin, one.position, [&] { return "start of " + marker(one); });
  for (const TimelineMark& one : picture.source.refusals)
    offer(one.at, one.position, [&] { return "refused by the driver, requested " + text_from_bytes(one.bytes); });
  return best;
}

const TimelineMarker* find_range_marker(const TimelinePicture& picture, const Look& look, ImVec2 point) {
  if (!picture.markers || !picture.markers->holds(point.y)) return nullptr;
  const auto& all = picture.source.stretches;
  const auto found = std::find_if(all.begin(), all.end(), [&](const TimelineMarker& one) {
    const float top = top_of_range(picture, look, one);
    return one.count == 1 && point.y >= top && point.y < top + marker_row(look) && point.x >= picture.x_of(one.begin) &&
           point.x < std::min(picture.right(), picture.x_of(one.end));
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace hbmscope::gui
