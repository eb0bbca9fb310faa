#include "app/gui/views/timeline/draw_timeline.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/span_text.h"
#include "app/gui/core/tables.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/icons.h"
#include "app/gui/look/trace_head.h"
#include "app/gui/views/drawn_view.h"
#include "app/gui/views/timeline/draw_timeline_hand.h"
#include "app/gui/views/timeline/draw_timeline_marks.h"

namespace hbmscope::gui {
namespace {

// What is laid over the timeline, once it is computed.
std::optional<TimelineOverlay> shown_overlay(const AppState& state) {
  auto what = find_overlay(state);
  const auto& columns = state.answers().overlay.value;
  // Not one of an earlier question.
  const AnswerKey& key = state.answers().overlay.key;
  const bool is_of_it = what && columns && key.type != nullptr && key.source == what->source &&
                        columns->heap == what->heap && columns->span.begin >= what->shown.begin + what->shift &&
                        columns->span.end <= what->shown.end + what->shift;
  if (!is_of_it) return std::nullopt;
  return TimelineOverlay{std::move(*what), columns};
}
// The tooltip has the time of day and the full text. If there is no room, the text goes to its own line; side by side
// it is left out, since the head of each side also shows it.
void draw_moment(const AppState& state, const std::string& phrase) {
  std::string words = phrase;
  if (const std::size_t day = words.find(", 20"); day != std::string::npos && words.ends_with(" UTC)"))
    words = words.substr(0, day) + ")";
  const float behind = button_width("Copy") + 2 * ImGui::GetFontSize();
  const float least = 5 * ImGui::GetFontSize();
  const float needed = std::min(ImGui::CalcTextSize(words.c_str()).x, least) + behind;
  if (state.is_split() && !has_room_behind(needed, ImGui::GetFontSize())) return;
  flow(needed, ImGui::GetFontSize());
  ImGui::AlignTextToFramePadding();
  dim_text(shortened(words, ImGui::GetContentRegionAvail().x - behind));
  tooltip(phrase);
}

// A place for one line of text; where the head has none, above the lanes.
struct CaptionPlace {
  ImDrawList* draw = nullptr;
  ImVec2 at{};
  float width = 0;
};

// Returns the room that is left for a caption; without a draw list if there is too little.
CaptionPlace draw_head(const AppState& state, const TimelineColumns& timeline, CommandQueue& commands) {
  const bool is_narrow = ImGui::GetContentRegionAvail().x < 46 * ImGui::GetFontSize();  // Side by side.
  bool is_first = !draw_heap_chooser(state, *state.source()->trace, timeline.heap, commands);
  const auto button = [&](const std::string& label, CommandId id, const char* words) {
    if (!is_first) flow(button_width(label.c_str()));
    is_first = false;
    if (ImGui::Button(label.c_str())) commands.push(id);
    tooltip(words);
  };
  button(std::string(icon::left) + "###<", CommandId::previous_event, "One event earlier (Left, ,)");
  button(std::string(icon::right) + "###>", CommandId::next_event, "One event later (Right, .)");
  if (!state.source()->live)  // A running job plays by itself; Hold is in the window's head.
    button(std::string(state.context().is_playing ? icon::pause : icon::play) + "###Play", CommandId::play,
           "Plays the trace in real time, but in 10 s at most and in 3 s at least (Space)");
  button("Peak", CommandId::go_to_peak, "The time with the most memory in use (P)");
  if (!timeline.failures.empty()) {
    button((is_narrow ? "[" : std::string(icon::left) + "  Failure") + "###previous failure",
           CommandId::previous_failure, "The previous out-of-memory ([)");
    button((is_narrow ? "]" : "Failure  " + std::string(icon::right)) + "###next failure", CommandId::next_failure,
           "The next out-of-memory (])");
  }
  button(std::string(icon::pin) + (state.position().pin.empty() ? "  Pin" : "  Unpin") + "###Pin",
         CommandId::pin_moment,
         "Pins this time and colours the heap map by the changes since (B). Press again to unpin.");
  button("End", CommandId::go_to_end, "After the last event (End)");
  if (state.context().is_playing) {
    const double speed = state.context().play_speed;
    const std::string words = "1 s shows " + (timeline.has_times ? text_from_moment_ns(std::llround(speed * 1e9))
                                                                 : text_from_count(std::llround(speed)) + " events");
    flow(ImGui::CalcTextSize(words.c_str()).x);
    text(words);
  }
  const auto& moment = state.answers().moment;
  if (moment.value) draw_moment(state, phrase_of(moment.value->moment));
  CaptionPlace place{ImGui::GetWindowDrawList(), ImGui::GetItemRectMax()};
  place.at.x += 1.5F * ImGui::GetFontSize();
  place.at.y -= ImGui::GetTextLineHeight();
  place.width = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x - button_width("Copy") -
                ImGui::GetFontSize() - place.at.x;
  if (!moment.value || place.width < 22 * ImGui::GetFontSize()) place.draw = nullptr;
  draw_copy_menu(ViewKind::timeline, commands);
  return place;
}

// Updates the position of the selected range on the axis, once its answer is known.
void follow_range(const TimelineFrame& frame) {
  const TimeRange& range = frame.state.position().range;
  const auto& answer = frame.state.answers().range;
  if (range.empty() || answer.state != AnswerState::ready || answer.value->range != range) return;
  if (range == frame.view.selected.pushed_as && frame.view.selected.trace.lock() == answer.value->trace) return;
  const auto axis_of = [&](const Moment& moment, std::int64_t time_ns) {
    const std::uint64_t position = moment.positions[frame.whole.heap.stream];
    return frame.whole.axis_at(frame.whole.share_of(position, time_ns));
  };
  const std::size_t stream = frame.whole.heap.stream;
  frame.view.selected.begin = axis_of(answer.value->from, answer.value->from_ns[stream]);
  frame.view.selected.end = axis_of(answer.value->to, answer.value->to_ns[stream]);
  frame.view.selected.pushed_as = range;
  frame.view.selected.trace = answer.value->trace;
}

// The band of the legend entry that was chosen in the heap map.
std::optional<Shade> lit_shade(const AppState& state, const StackedBands& bands) {
  const std::string& lit = state.position().lit;
  if (lit.empty()) return std::nullopt;
  for (const Shade shade : bands.order())
    if (bands.name_of(shade) == lit) return shade;
  return std::nullopt;
}

void draw_picture(const TimelineFrame& frame, float scrubber) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const StackedBands* bands = frame.bands();
  const auto blocks = frame.blocks();
  MemoryBands known{bands, blocks.get(), tiers_of(frame)};
  if (bands != nullptr) known.lit = lit_shade(frame.state, *bands);
  known.overlay = frame.overlay;
  known.steps = frame.steps;
  draw_lanes(draw, frame.view.lanes, frame.look, frame.picture, known);
  if (blocks) draw_block_names(draw, frame.state, frame.look, frame.picture, *bands, *blocks);
  follow_range(frame);
  const TimeRange& range = frame.state.position().range;
  if (!range.empty() && range == frame.view.selected.pushed_as)
    draw_selected_range(draw, frame.look, frame.picture, frame.view.selected.begin, frame.view.selected.end);
  draw_marks(draw, frame.look, frame.picture);
  draw_time_axis(draw, frame.state, frame.picture, frame.whole, frame.picture.bottom);
  const auto& moment = frame.state.answers().moment;
  if (!moment.value || moment.value->trace != frame.state.source()->trace) return;
  const auto axis_of = [&](const TraceMoment& one) {
    const HeapKey heap = frame.whole.heap;
    return frame.whole.axis_at(frame.whole.share_of(one.position(heap), one.state_of(heap).time_ns()));
  };
  const auto& pinned = frame.state.answers().pinned;
  if (pinned.value && pinned.value->trace == moment.value->trace)
    draw_pin_line(draw, frame.look, frame.picture, axis_of(*pinned.value), scrubber);
  const double now = axis_of(*moment.value);
  const auto& address = frame.state.position().address;
  if (blocks && address && now >= frame.picture.begin && now <= frame.picture.end) {
    const int pixel = frame.pixel_of(frame.picture.x_of_axis(now));
    if (const auto selected = find_block_in(*blocks, pixel, *address))
      draw_block_contour(draw, frame.look, frame.picture, *bands, *blocks, *selected, Role::selection);
    for (const std::uint64_t further : frame.state.position().also)
      if (const auto found = find_block_in(*blocks, pixel, further))
        draw_block_contour(draw, frame.look, frame.picture, *bands, *blocks, *found, Role::selection);
  }
  draw_bookmark_flags(draw, frame.state, frame.picture, frame.whole, scrubber);
  draw_moment_line(draw, frame.look, frame.picture, now, scrubber);
}

// What the picture is, and what of it has no room.
std::string caption_words(const AppState& state, const TimelinePicture& picture, bool fits_y, bool has_strip,
                          const TimelineOverlay* overlay) {
  std::string words;
  if (!picture.source.heap.empty()) {
    const auto coloring = shown_coloring(state);
    if (overlay != nullptr)
      words = "line over it: " + overlay->what.words + ", at most " + text_from_bytes(overlay->columns->in_use_most) +
              " here; ";
    words += "in use" + (coloring ? " by " + lower_title_of(box_coloring(*coloring, *state.context().colors)) : "") +
             "; " + words_of_lines(picture, fits_y);
  }
  if (std::string missing = words_not_drawn(picture, has_strip); !missing.empty()) {
    if (!words.empty()) missing[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(missing[0])));
    words += (words.empty() ? "" : "; ") + missing;
  }
  return words;
}

void draw_caption_words(const Look& look, const CaptionPlace& place, const std::string& words) {
  place.draw->AddText(place.at, look.role(Role::dim_text), shortened(words, place.width).c_str());
  const ImVec2 end{place.at.x + place.width, place.at.y + ImGui::GetTextLineHeight()};
  if (ImGui::IsMouseHoveringRect(place.at, end, false) && ImGui::IsWindowHovered(ImGuiHoveredFlags_RootAndChildWindows))
    ImGui::SetTooltip("%s", words.c_str());
}

}  // namespace

void draw_timeline(const AppState& state, TimelineState& view, CommandQueue& commands) {
  if (!state.position().range.empty()) commands.ask(Question::range);  // To get its position.
  if (!draw_answer_state(state, state.answers().timeline, "the timeline"))
    return draw_no_heap(state, state.answers().timeline.state);
  const auto whole = state.answers().timeline.value, part = state.answers().timeline_part.value;
  const Look look(state);
  CaptionPlace caption = draw_head(state, *whole, commands);

  ImGui::BeginChild("time", {0, 0}, 0,
                    ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoNavInputs);
  ImVec2 corner = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float gutter = gutter_of_lanes(look), scrubber = look.px(10);
  // In a low view the lanes come first: the caption and the labels have no line of their own then, nor are there an
  // axis and an overview of the whole trace.
  const float least = look.px(24), caption_line = ImGui::GetTextLineHeight() + look.px(2);
  const float axis_line = ImGui::GetTextLineHeight() + look.px(8);
  const float axis = room.y - scrubber - least > axis_line ? axis_line : 0;
  const float free = room.y - axis - scrubber - least;
  const float labels = label_height(look) - scrubber;
  const bool has_labels = free > labels;
  const bool has_caption_line = caption.draw == nullptr && free > labels + caption_line;
  if (has_caption_line) {
    caption = {ImGui::GetWindowDrawList(), {corner.x + gutter, corner.y}, room.x - gutter};
    corner.y += caption_line;
    room.y -= caption_line;
  }
  const bool has_strip = room.y > look.px(130);
  const float strip = has_strip ? look.px(16) : 0;
  const ImVec2 from{std::floor(corner.x + gutter), std::floor(corner.y + scrubber + (has_labels ? labels : 0))};
  const ImVec2 to{std::floor(corner.x + room.x - look.px(6)),
                  std::floor(corner.y + room.y - axis - strip - (has_strip ? look.px(3) : 0))};
  if (to.x - from.x < 16 || to.y - from.y < least) return ImGui::EndChild();
  const auto overlay = shown_overlay(state);
  const auto steps = state.answers().steps.value;
  PictureOptions options{state.position().span, view.fits_y};
  options.has_thin_lanes = !view.folds_lanes;
  if (overlay) options.overlay_most = overlay->columns->in_use_most;
  options.has_steps =
      steps && steps->trace == state.source()->trace && steps->heap == whole->heap && steps->leaves_something;
  const int width = static_cast<int>(to.x - from.x);
  TimelinePicture picture = make_picture(*whole, part.get(), options, from, to, look);
  picture.has_labels = has_labels;
  if (caption.draw != nullptr)
    draw_caption_words(look, caption,
                       caption_words(state, picture, view.fits_y, has_strip, overlay ? &*overlay : nullptr));
  const int height = static_cast<int>(picture.memory.height());
  if (state.context().timeline_width != static_cast<std::size_t>(width) ||
      state.context().timeline_height != static_cast<std::size_t>(std::max(0, height)))
    commands.push(command::size_timeline, {width, height});

  const TimelineSpan seen = state.position().span.empty() ? whole->whole : state.position().span;
  const bool has_bands = view.bands.update(shown_stack(state, whole->heap, seen), seen, width);
  const TimelineFrame frame{state,
                            view,
                            commands,
                            look,
                            *whole,
                            picture,
                            overlay ? &*overlay : nullptr,
                            options.has_steps ? steps.get() : nullptr,
                            has_bands};
  ImGui::SetCursorScreenPos({from.x, from.y - scrubber});
  ImGui::InvisibleButton("scrubber", {static_cast<float>(width), scrubber});
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  handle_scrubber(frame, ImGui::IsItemActive());
  draw_picture(frame, scrubber);
  ImGui::SetCursorScreenPos(from);
  ImGui::InvisibleButton(
      "columns", {static_cast<float>(width), to.y - from.y},
      ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight | ImGuiButtonFlags_MouseButtonMiddle);
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
  handle_lanes(frame, ImGui::IsItemHovered(), ImGui::IsItemActive());
  if (has_strip) {
    const ImVec2 strip_from{from.x, std::floor(corner.y + room.y - strip)}, strip_to{to.x, corner.y + room.y - 1};
    ImGui::SetCursorScreenPos(strip_from);
    ImGui::InvisibleButton("strip", {static_cast<float>(width), strip_to.y - strip_from.y});
    ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
    handle_strip(frame, ImGui::IsItemActive(), ImGui::IsItemHovered());
    draw_strip(*ImGui::GetWindowDrawList(), view.overview, look, *whole, state.position().span, strip_from, strip_to);
  }
  handle_keys(frame);
  ImGui::EndChild();
  if (take_copy(state, ViewKind::timeline, view.copy_seen))
    copy_table(state, table_from_timeline(picture.source), commands);
}

std::unique_ptr<DrawnView> make_timeline() {
  return make_view(draw_timeline);
}

}  // namespace hbmscope::gui
