#include "app/gui/views/timeline.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/piece_text.h"
#include "app/gui/core/tables.h"
#include "app/gui/views/answer_state.h"
#include "app/gui/views/drawing.h"
#include "app/gui/views/frame_menu.h"
#include "app/gui/views/trace_head.h"

namespace hbmscope::gui {
namespace {

constexpr float snap_px = 4;

std::string bytes(std::uint64_t bytes) {
  return text_from_bytes(static_cast<std::int64_t>(bytes));
}
std::string band_text(const Band& band) {
  if (band.least == band.most) return bytes(band.most);
  const TextPair pair = texts_from_bytes(static_cast<std::int64_t>(band.least), static_cast<std::int64_t>(band.most));
  return pair.first + " to " + pair.second;
}

// A strip of the picture with its own scale of bytes, 0 at its foot.
struct Lane {
  ImVec2 from, to;
  double most = 1;

  float y_of(std::uint64_t value) const {
    return to.y - static_cast<float>(std::min(1.0, static_cast<double>(value) / most)) * (to.y - from.y);
  }
  float x_of(double at) const { return from.x + static_cast<float>(at) * (to.x - from.x); }
};

// The columns that one pixel of the picture covers, as one.
TimelineColumn column_at(const TimelineColumns& timeline, int x, int width) {
  const auto count = static_cast<std::int64_t>(timeline.columns.size());
  const auto first = std::min(count - 1, x * count / width);
  const auto last = std::max(first + 1, std::min(count, (static_cast<std::int64_t>(x) + 1) * count / width));
  TimelineColumn sum = timeline.columns[static_cast<std::size_t>(first)];
  for (std::int64_t i = first + 1; i < last; ++i) {
    const TimelineColumn& one = timeline.columns[static_cast<std::size_t>(i)];
    for (const auto& [band, more] : {std::pair(&sum.in_use, &one.in_use), std::pair(&sum.pool, &one.pool),
                                     std::pair(&sum.largest_free, &one.largest_free)}) {
      band->add(more->least);
      band->add(more->most);
    }
    sum.position = one.position;
    sum.is_inexact |= one.is_inexact;
  }
  return sum;
}

// Runs of pixels with the same band are one rectangle: most of a trace is flat.
void draw_area(ImDrawList& draw, const Lane& lane, const std::vector<TimelineColumn>& pixels,
               Band TimelineColumn::*band, ImU32 solid, ImU32 spread) {
  for (std::size_t x = 0; x < pixels.size();) {
    std::size_t end = x + 1;
    while (end < pixels.size() && pixels[end].*band == pixels[x].*band) ++end;
    const Band& here = pixels[x].*band;
    const float left = lane.from.x + static_cast<float>(x), right = lane.from.x + static_cast<float>(end);
    const float least = lane.y_of(here.least), most = lane.y_of(here.most);
    if (here.least > 0) draw.AddRectFilled({left, least}, {right, lane.to.y}, solid);
    if (here.most > here.least) draw.AddRectFilled({left, std::min(most, least - 1)}, {right, least}, spread);
    x = end;
  }
}

void draw_line(ImDrawList& draw, const Lane& lane, const std::vector<TimelineColumn>& pixels,
               Band TimelineColumn::*band, ImU32 ink) {
  for (std::size_t x = 0; x < pixels.size();) {
    std::size_t end = x + 1;
    while (end < pixels.size() && pixels[end].*band == pixels[x].*band) ++end;
    const Band& here = pixels[x].*band;
    const float top = lane.y_of(here.most), bottom = std::max(lane.y_of(here.least), top + 1);
    draw.AddRectFilled({lane.from.x + static_cast<float>(x), top - 0.5F},
                       {lane.from.x + static_cast<float>(end), bottom + 0.5F}, ink);
    x = end;
  }
}

// Words over data stand on a plate of the background.
void draw_words(ImDrawList& draw, const Look& look, ImVec2 at, const std::string& words, Role role) {
  const ImVec2 size = ImGui::CalcTextSize(words.c_str());
  draw.AddRectFilled({at.x - look.px(3), at.y}, {at.x + size.x + look.px(3), at.y + size.y},
                     look.role(Role::free, 0.8F), look.px(2));
  draw.AddText(at, look.role(role), words.c_str());
}

void draw_scale(ImDrawList& draw, const Look& look, const Lane& lane, const char* title) {
  double step = 1;
  while (lane.most / step > std::max(2.0F, (lane.to.y - lane.from.y) / look.px(34))) step *= 2;
  for (double value = 0; value <= lane.most; value += step) {
    const float y = lane.y_of(static_cast<std::uint64_t>(value));
    if (value > 0) draw.AddLine({lane.from.x, y}, {lane.to.x, y}, look.role(Role::text, 0.10F));
    const std::string words = text_from_bytes(std::llround(value));
    const ImVec2 size = ImGui::CalcTextSize(words.c_str());
    if (y - size.y / 2 < lane.from.y - look.px(4)) continue;
    draw.AddText({lane.from.x - look.px(6) - size.x, y - size.y / 2}, look.role(Role::dim_text), words.c_str());
  }
  draw_words(draw, look, {lane.from.x + look.px(6), lane.from.y + look.px(2)}, title, Role::text);
}

// Where the file has no times, the axis says so at its right end, and ticks leave it the room.
void draw_time_axis(ImDrawList& draw, const Look& look, const TimelineColumns& timeline, const Lane& lane, float y) {
  float right = lane.to.x + look.px(8);
  if (!timeline.has_times) {
    const char* const words = "event number (this file has no times)";
    const float left = lane.to.x - ImGui::CalcTextSize(words).x;
    draw.AddText({left, y + look.px(4)}, look.role(Role::dim_text), words);
    right = left - look.px(8);
  }
  const int most = std::max(1, static_cast<int>((lane.to.x - lane.from.x) / look.px(110)));
  for (const AxisTick& tick : ticks_of(timeline, most)) {
    const float x = lane.x_of(tick.at);
    draw.AddLine({x, y}, {x, y + look.px(4)}, look.role(Role::dim_text));
    const float width = ImGui::CalcTextSize(tick.text.c_str()).x;
    if (x + width / 2 > right) continue;
    draw.AddText({std::max(lane.from.x - look.px(2), x - width / 2), y + look.px(4)}, look.role(Role::dim_text),
                 tick.text.c_str());
  }
}

// A flag on a stem, with a word: state is never colour alone.
void draw_flag(ImDrawList& draw, const Look& look, float x, float y, float right, const std::string& words, Role role) {
  const ImVec2 size = ImGui::CalcTextSize(words.c_str());
  const float left = x + size.x + look.px(8) > right ? x - size.x - look.px(8) : x;
  draw.AddRectFilled({left, y}, {left + size.x + look.px(8), y + size.y + look.px(2)}, look.role(role), look.px(2));
  draw.AddText({left + look.px(4), y + look.px(1)}, look.color(text_on(look.rgb(role))), words.c_str());
}

void draw_marks(ImDrawList& draw, const Look& look, const TimelineColumns& timeline, const Lane& memory,
                const Lane* fits) {
  if (timeline.peak) {
    const float x = memory.x_of(timeline.peak->at), y = memory.y_of(timeline.peak->bytes);
    draw.AddTriangleFilled({x, y}, {x - look.px(5), y - look.px(8)}, {x + look.px(5), y - look.px(8)},
                           look.role(Role::text));
    const std::string words = "peak " + bytes(timeline.peak->bytes);
    const float width = ImGui::CalcTextSize(words.c_str()).x;
    const float left = x + look.px(8) + width > memory.to.x ? x - look.px(8) - width : x + look.px(8);
    draw_words(draw, look, {left, std::max(memory.from.y, y - ImGui::GetTextLineHeight() - look.px(1))}, words,
               Role::text);
  }
  for (std::size_t i = 0; i < timeline.failures.size(); ++i) {
    const TimelineMark& failure = timeline.failures[i];
    const float x = std::floor(memory.x_of(failure.at));
    for (float y = memory.from.y; y < memory.to.y; y += look.px(6))
      draw.AddLine({x + 0.5F, y}, {x + 0.5F, std::min(memory.to.y, y + look.px(4))}, look.role(Role::failure),
                   look.px(1.5F));
    // As high as what was asked, beside what was there.
    if (fits != nullptr)
      draw.AddLine({x + 0.5F, fits->to.y}, {x + 0.5F, fits->y_of(failure.bytes)}, look.role(Role::failure), look.px(3));
    // The words of many would lie over one another.
    if (i > 0 && memory.x_of(failure.at) - memory.x_of(timeline.failures[i - 1].at) < look.px(90)) continue;
    const Lane& lane = fits != nullptr ? *fits : memory;
    const float y = std::min(lane.y_of(fits != nullptr ? failure.bytes : 0), lane.to.y - look.px(20));
    draw_flag(draw, look, x + look.px(3), std::max(lane.from.y, y), lane.to.x, "! asked " + bytes(failure.bytes),
              Role::failure);
  }
}

void draw_loss(ImDrawList& draw, const Look& look, const std::vector<TimelineColumn>& pixels, ImVec2 from, ImVec2 to) {
  for (std::size_t x = 0; x < pixels.size();) {
    std::size_t end = x + 1;
    while (end < pixels.size() && pixels[end].is_inexact == pixels[x].is_inexact) ++end;
    if (pixels[x].is_inexact)
      draw_hatch(draw, look, {from.x + static_cast<float>(x), from.y}, {from.x + static_cast<float>(end), to.y},
                 look.role(Role::dim_text, 0.4F));
    x = end;
  }
}

// The position that a click there means: a failure or the peak within some pixels, else the column's last event.
std::uint64_t position_at(const TimelineColumns& timeline, const Lane& lane, float x, const TimelineColumn& column) {
  if (ImGui::GetIO().KeyAlt) return column.position;
  for (const TimelineMark& failure : timeline.failures)
    if (std::abs(lane.x_of(failure.at) - x) <= snap_px) return failure.position;
  if (timeline.peak && std::abs(lane.x_of(timeline.peak->at) - x) <= snap_px) return timeline.peak->position;
  return column.position;
}

void move_moment(const AppState& state, TimelineState& view, const TimelineColumns& timeline, std::uint64_t position,
                 CommandQueue& commands) {
  const std::string at = text_from_position(*state.source()->trace, timeline.heap.stream, position);
  if (view.is_dragging && view.pushed == at) return;
  commands.push(view.is_dragging ? CommandId::move_moment : CommandId::set_moment, at);
  view.is_dragging = true;
  view.pushed = at;
}

void draw_column_tooltip(const TimelineColumns& timeline, double at, const TimelineColumn& column) {
  ImGui::BeginTooltip();
  bold_text(timeline.text_at(at) +
            (timeline.has_times ? ", event " + text_from_count(static_cast<std::int64_t>(column.position)) : ""));
  text("in use " + band_text(column.in_use));
  if (timeline.knows_regions) {
    text("pool size " + band_text(column.pool));
    text("largest free " + band_text(column.largest_free));
  }
  if (column.is_inexact) dim_text("Events were lost before this: the figures are inexact.");
  dim_text("click or drag: show this moment");
  ImGui::EndTooltip();
}

void draw_head(const AppState& state, const TimelineColumns& timeline, CommandQueue& commands) {
  const Look look(state);
  std::string name;
  for (const NamedHeap& heap : heaps_of(*state.source()->trace))
    if (heap.key == timeline.heap) name = heap.name;
  ImGui::AlignTextToFramePadding();
  bold_text(name);
  ImGui::SameLine(0, ImGui::GetFontSize());
  const auto button = [&](const char* label, CommandId id, const char* words) {
    if (ImGui::Button(label)) commands.push(id);
    tooltip(words);
    ImGui::SameLine();
  };
  button("<", CommandId::previous_event, "One event earlier (Left, ,)");
  button(">", CommandId::next_event, "One event later (Right, .)");
  button("Peak", CommandId::go_to_peak, "The moment with the most in use (P)");
  if (!timeline.failures.empty()) {
    button("< Failure", CommandId::previous_failure, "The out-of-memory before ([)");
    button("Failure >", CommandId::next_failure, "The next out-of-memory (])");
  }
  button("End", CommandId::go_to_end, "After the last event (End)");
  const auto& moment = state.answers().moment;
  if (moment.value)
    dim_text(shortened(phrase_of(moment.value->moment), ImGui::GetContentRegionAvail().x - ImGui::GetFontSize() * 5));
  if (!moment.value) ImGui::NewLine();
  draw_copy_menu(ViewKind::timeline, commands);
}

}  // namespace

void draw_timeline(const AppState& state, TimelineState& view, CommandQueue& commands) {
  commands.ask(Question::timeline);
  if (!draw_answer_state(state, state.answers().timeline, "the timeline")) {
    if (state.answers().timeline.state == AnswerState::absent && state.answers().moment.state == AnswerState::ready)
      wrapped_text("No heap of this trace ever held anything, so there is nothing to draw.");
    return;
  }
  const auto answer = state.answers().timeline.value;
  const TimelineColumns& timeline = *answer;
  const Look look(state);
  draw_head(state, timeline, commands);

  ImGui::BeginChild("time", {0, 0}, 0,
                    ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoNavInputs);
  const ImVec2 corner = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float gutter = ImGui::CalcTextSize("1023.9 GiB").x + look.px(6);
  const float axis = ImGui::GetTextLineHeight() + look.px(timeline.has_times ? 6.0F : 8.0F);
  const ImVec2 from{std::floor(corner.x + gutter), std::floor(corner.y + look.px(6))};
  const ImVec2 to{std::floor(corner.x + room.x - look.px(6)), std::floor(corner.y + room.y - axis)};
  const int width = static_cast<int>(to.x - from.x);
  if (width < 16 || to.y - from.y < look.px(24)) return ImGui::EndChild();
  ImGui::SetCursorScreenPos(from);
  ImGui::InvisibleButton("columns", {static_cast<float>(width), to.y - from.y});
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();

  std::vector<TimelineColumn> pixels;
  pixels.reserve(static_cast<std::size_t>(width));
  for (int x = 0; x < width; ++x) pixels.push_back(column_at(timeline, x, width));
  const bool has_fits = timeline.knows_regions && to.y - from.y > look.px(90);
  const float split = has_fits ? std::floor(from.y + (to.y - from.y) * 0.62F) : to.y;
  const Lane memory{from,
                    {to.x, split},
                    std::max(1.0, static_cast<double>(std::max(timeline.in_use_most, timeline.pool_most)) * 1.1)};
  const Lane fits{{from.x, split + look.px(8)},
                  to,
                  std::max(1.0, static_cast<double>(std::max(timeline.largest_free_most, timeline.asked_most)) * 1.15)};
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(memory.from, memory.to, look.role(Role::free));
  draw_area(draw, memory, pixels, &TimelineColumn::in_use, look.role(Role::parameters),
            look.role(Role::parameters, 0.45F));
  if (timeline.knows_regions) draw_line(draw, memory, pixels, &TimelineColumn::pool, look.role(Role::text, 0.8F));
  draw_scale(
      draw, look, memory,
      timeline.knows_regions ? "in use, below the line of the pool's size" : "in use; the pool's size is not told");
  if (has_fits) {
    draw.AddRectFilled(fits.from, fits.to, look.role(Role::free));
    draw_area(draw, fits, pixels, &TimelineColumn::largest_free, look.role(Role::largest_free, 0.75F),
              look.role(Role::largest_free, 0.35F));
    draw_scale(draw, look, fits, "largest free block");
  }
  draw_loss(draw, look, pixels, from, to);
  draw_marks(draw, look, timeline, memory, has_fits ? &fits : nullptr);
  draw_time_axis(draw, look, timeline, memory, to.y);

  const auto& moment = state.answers().moment;
  if (moment.value && moment.value->trace == state.source()->trace) {
    const float x =
        std::floor(std::min(to.x - 1, memory.x_of(timeline.column_of(moment.value->position(timeline.heap)))));
    draw.AddRectFilled({x - 1, from.y - look.px(5)}, {x + 1, to.y}, look.role(Role::selection));
    draw.AddTriangleFilled({x, from.y + look.px(4)}, {x - look.px(6), from.y - look.px(6)},
                           {x + look.px(6), from.y - look.px(6)}, look.role(Role::selection));
  }
  if (!active) view.is_dragging = false;
  if (hovered || active) {
    const float x = std::clamp(std::floor(ImGui::GetMousePos().x - from.x), 0.0F, static_cast<float>(width - 1));
    const TimelineColumn& column = pixels[static_cast<std::size_t>(x)];
    draw.AddLine({from.x + x + 0.5F, from.y}, {from.x + x + 0.5F, to.y}, look.role(Role::text, 0.4F));
    if (active) move_moment(state, view, timeline, position_at(timeline, memory, from.x + x, column), commands);
    if (hovered && !active && ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
      draw_column_tooltip(timeline, (static_cast<double>(x) + 0.5) / width, column);
  }
  if (ImGui::IsWindowFocused() && !ImGui::GetIO().WantTextInput && !ImGui::GetIO().KeyAlt) {
    if (ImGui::IsKeyPressed(ImGuiKey_LeftArrow)) commands.push(CommandId::previous_event);
    if (ImGui::IsKeyPressed(ImGuiKey_RightArrow)) commands.push(CommandId::next_event);
  }
  ImGui::EndChild();
  if (take_copy(state, ViewKind::timeline, view.copy_seen)) copy_table(state, table_from_timeline(timeline), commands);
}

}  // namespace hbmscope::gui
