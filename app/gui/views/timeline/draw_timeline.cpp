#include "app/gui/views/timeline/draw_timeline.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "app/gui/core/block_actions.h"
#include "app/gui/core/span_text.h"
#include "app/gui/core/tables.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/block_menu.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/trace_head.h"
#include "app/gui/views/drawn_view.h"
#include "app/gui/views/timeline/draw_timeline_blocks.h"
#include "app/gui/views/timeline/draw_timeline_marks.h"

namespace hbmscope::gui {
namespace {

std::string band_text(const Band& band) {
  if (band.least == band.most) return text_from_bytes(band.most);
  const TextPair pair = texts_from_bytes(static_cast<std::int64_t>(band.least), static_cast<std::int64_t>(band.most));
  return pair.first + " to " + pair.second;
}
// With fewer steps, what one leaves behind is only what the program's start did.
bool leave_something(const TraceSteps& steps) {
  constexpr std::size_t least_steps = 3;
  if (steps.steps.size() <= least_steps) return false;
  for (std::size_t i = 1; i < steps.steps.size(); ++i)
    if (steps.growth_of(i).value_or(0) != 0) return true;
  return false;
}

// What is laid over the timeline, once it is computed.
std::optional<TimelineOverlay> shown_overlay(const AppState& state) {
  auto what = find_overlay(state);
  const auto& columns = state.answers().overlay.value;
  if (!what || !columns || !(columns->heap == what->heap)) return std::nullopt;
  return TimelineOverlay{std::move(*what), columns};
}

std::string share_text(const ShareBand& band) {
  if (!band.is_defined()) return "–, nothing is free";
  const std::string least = text_from_fraction(band.least), most = text_from_fraction(band.most);
  return least == most ? most : least + " to " + most;
}

// Shared by the parts of a frame.
struct TimelineFrame {
  const AppState& state;
  TimelineState& view;
  CommandQueue& commands;
  const Look& look;
  const TimelineColumns& whole;
  const TimelinePicture& picture;
  const TimelineOverlay* overlay = nullptr;
  const TraceSteps* steps = nullptr;  // Null: there are too few.
  bool has_bands = false;

  MomentName moment_at(std::uint64_t position) const { return {*state.source()->trace, whole.heap.stream, position}; }
  int pixel_of(float x) const {
    return static_cast<int>(std::clamp(std::floor(x - picture.left), 0.0F, static_cast<float>(picture.width - 1)));
  }
  void show(double begin, double end) const { show_span(state, whole, begin, end, commands); }
  void zoom(double factor, double at) const { zoom_span(state, picture, whole, factor, at, commands); }
  // Null until they are known.
  const StackedBands* bands() const { return has_bands ? &view.bands : nullptr; }
  std::shared_ptr<const StackBlocks> blocks() const {
    return has_bands ? shown_stack_blocks(state, view.bands) : nullptr;
  }
  // The height of a point of the screen above the foot of the lane of memory, in bytes; negative: it is elsewhere.
  double bytes_at(float y) const { return picture.memory.holds(y) ? picture.memory.value_at(y) : -1; }
  // The block under a point of the screen.
  std::optional<std::uint32_t> block_under(ImVec2 at) const {
    const auto known = blocks();
    return known ? block_at(*known, view.bands, pixel_of(at.x), bytes_at(at.y)) : std::nullopt;
  }
  void pan(double by) const { pan_span(state, picture, whole, by, commands); }
};

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
  const auto button = [&](const char* label, CommandId id, const char* words) {
    if (!is_first) flow(button_width(label));
    is_first = false;
    if (ImGui::Button(label)) commands.push(id);
    tooltip(words);
  };
  button("<", CommandId::previous_event, "One event earlier (Left, ,)");
  button(">", CommandId::next_event, "One event later (Right, .)");
  if (!state.source()->live)  // A running job plays by itself; Hold is in the window's head.
    button(state.context().is_playing ? "Pause" : "Play", CommandId::play,
           "Plays the trace in real time, but in 10 s at most and in 3 s at least (Space)");
  button("Peak", CommandId::go_to_peak, "The time with the most memory in use (P)");
  if (!timeline.failures.empty()) {
    button(is_narrow ? "[" : "< Failure", CommandId::previous_failure, "The previous out-of-memory ([)");
    button(is_narrow ? "]" : "Failure >", CommandId::next_failure, "The next out-of-memory (])");
  }
  button(state.position().pin.empty() ? "Pin" : "Pin here", CommandId::pin_moment,
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

// The bands of the lanes of other kinds of memory.
std::vector<const StackedBands*> tiers_of(const TimelineFrame& frame) {
  const auto& known = frame.state.answers().tier_stacks.value;
  std::vector<const StackedBands*> tiers;
  if (!frame.has_bands || !known) return tiers;
  const auto& heaps = frame.picture.source.heaps;
  frame.view.tiers.resize(heaps.size());
  for (std::size_t i = 0; i < heaps.size() && heaps[i].is_other_kind; ++i) {
    const auto course = known->find(heaps[i].heap);
    const bool is_alike = course && course->query().colors == frame.view.bands.course().query().colors &&
                          course->query().coloring == frame.view.bands.course().query().coloring;
    const bool is_known = is_alike && frame.view.tiers[i].update(course, frame.view.bands.seen(), frame.picture.width);
    tiers.push_back(is_known ? &frame.view.tiers[i] : nullptr);
  }
  return tiers;
}

// The band under the pointer.
void draw_band_words(const TimelineFrame& frame, int pixel) {
  const float y = ImGui::GetIO().MousePos.y;
  const auto say = [&](const Lane& lane, const StackedBands* bands) {
    if (bands == nullptr || !lane.holds(y)) return;
    const auto shade = bands->shade_at(pixel, lane.value_at(y));
    if (!shade) return;
    const Composition& column = bands->pixels()[static_cast<std::size_t>(pixel)];
    text(bands->name_of(*shade) + "  " + text_from_bytes(column.bytes[*shade]));
  };
  say(frame.picture.memory, frame.bands());
  const auto tiers = tiers_of(frame);
  for (std::size_t i = 0; i < std::min(tiers.size(), frame.picture.heaps.size()); ++i)
    say(frame.picture.heaps[i], tiers[i]);
}

// The step under the pointer, and what is laid over it.
void draw_step_words(const TimelineFrame& frame, float x) {
  const double axis = frame.picture.axis_of(x + 0.5F);
  if (frame.overlay != nullptr)
    if (const auto other = frame.overlay->at(axis)) text(frame.overlay->what.words + ": " + band_text(*other));
  if (frame.steps == nullptr) return;
  const auto step = frame.steps->find(frame.picture.position_after(frame.pixel_of(x)));
  const auto growth = step ? frame.steps->growth_of(*step) : std::nullopt;
  if (growth) text(std::string(frame.steps->steps[*step].name) + ": " + delta_text_from_bytes(*growth) + " at its end");
}

void draw_column_tooltip(const TimelineFrame& frame, float x) {
  const int pixel = frame.pixel_of(x);
  const TimelineColumn& column = frame.picture.pixels[static_cast<std::size_t>(pixel)];
  const std::uint64_t before = frame.picture.position_before(pixel), after = frame.picture.position_after(pixel);
  ImGui::BeginTooltip();
  TimelineColumns axis;
  axis.has_times = frame.whole.has_times;
  axis.span = {std::llround(frame.picture.begin), std::llround(frame.picture.end)};
  const std::uint64_t events = after > before ? after - before : 0;
  const bool has_heap = !frame.whole.heap.empty();
  bold_text(axis.text_at((static_cast<double>(x) - static_cast<double>(frame.picture.left) + 0.5) /
                         static_cast<double>(frame.picture.width)) +
            ", " + text_from_count(events) + (events == 1 ? " event" : " events") +
            (has_heap ? ", in use " + band_text(column.in_use) : std::string()));
  const auto target = find_snap_target(frame.picture, frame.look, x);
  if (target) text("near " + target->words);
  draw_band_words(frame, pixel);
  if (frame.whole.knows_regions)
    text("pool " + band_text(column.pool) + ", largest free block " + band_text(column.largest_free) +
         ", fragmentation " + share_text(column.fragmentation));
  draw_step_words(frame, x);
  for (std::size_t i = 0; i < frame.picture.heaps.size(); ++i) {
    const TimelineHeap& heap = frame.picture.source.heaps[i];
    text(heap.name + " " + band_text(frame.picture.under(heap.columns, pixel)));
  }
  for (std::size_t i = 0; !has_heap && i < frame.picture.counters.size(); ++i) {
    const TimelineCounter& counter = frame.picture.source.counters[i];
    const CounterBand band = frame.picture.under(counter.columns, pixel);
    text(counter.name + ": " + (band.is_defined ? text_from_counter(counter, band.most) : "not reported yet"));
  }
  if (column.is_skipped)
    text("Skipped: these events were not fetched. The figures are the last ones before them.");
  else if (column.is_inexact)
    text("The figures are inexact: events were lost before this time, or contradict each other.");
  dim_text("up to event " + text_from_count(after) +
           (target     ? "; click to go to the marker, Alt+click to the last event here"
            : has_heap ? "; click to go to the most in use here, drag to select"
                       : "; drag to select"));
  ImGui::EndTooltip();
}

// The tooltip of a block: as in the heap map.
void draw_block_tooltip(const TimelineFrame& frame, const StackBlocks& blocks, std::uint32_t index, float x) {
  const LiveBlock& block = blocks.blocks()[index];
  const BlockActions actions = actions_of(*frame.state.source()->trace, frame.whole.heap, block);
  const auto shade = frame.bands()->shade_at(frame.pixel_of(x), frame.bytes_at(ImGui::GetIO().MousePos.y));
  ImGui::BeginTooltip();
  bold_text(actions.code);
  text(actions.size + (shade ? ", " + frame.bands()->name_of(*shade) : std::string()));
  const std::uint64_t requested = block.requested;
  if (requested != wire::unknown_bytes && requested != block.size) text("requested " + text_from_bytes(requested));
  dim_text("click selects it at this time");
  ImGui::EndTooltip();
}

// Selects the block at the time of the column, in which it lives.
void select_block(const TimelineFrame& frame, const StackBlocks& blocks, std::uint32_t index, int pixel) {
  const LiveBlock& block = blocks.blocks()[index];
  const std::uint64_t position = frame.view.bands.pixels()[static_cast<std::size_t>(pixel)].position;
  frame.commands.push(command::set_moment, frame.moment_at(position));
  if (block.has_address())
    frame.commands.push(command::select_address,
                        actions_of(*frame.state.source()->trace, frame.whole.heap, block).place);
}

void set_moment(const TimelineFrame& frame, std::uint64_t position) {
  const MomentName at = frame.moment_at(position);
  if (frame.view.is_scrubbing && frame.view.pushed == at) return;
  frame.commands.push(frame.view.is_scrubbing ? command::move_moment : command::set_moment, at);
  frame.view.pushed = at;
}

// A click goes to a marker within a few pixels, otherwise to the highest bytes in use of the column; with Alt, to the
// column's last event.
std::uint64_t clicked_position(const TimelineFrame& frame, float x) {
  const TimelineColumn& column = frame.picture.pixels[static_cast<std::size_t>(frame.pixel_of(x))];
  if (ImGui::GetIO().KeyAlt) return column.position;
  if (const auto target = find_snap_target(frame.picture, frame.look, x)) return target->position;
  return column.most_position;
}

void select_range(const TimelineFrame& frame, float x) {
  TimelineState& view = frame.view;
  const float pressed = frame.picture.x_of_axis(view.pressed_at);
  const int first = frame.pixel_of(std::min(pressed, x)), last = frame.pixel_of(std::max(pressed, x));
  view.selected[0] = frame.picture.axis_of(frame.picture.left + static_cast<float>(first));
  view.selected[1] = frame.picture.axis_of(frame.picture.left + static_cast<float>(last + 1));
  const std::uint64_t from = frame.picture.position_before(first);
  const TimeRange range{frame.moment_at(from), frame.moment_at(std::max(from, frame.picture.position_after(last)))};
  view.selected_as = range;
  view.selected_in = frame.state.source()->trace;
  if (view.is_selecting && view.pushed_range == range) return;
  frame.commands.push(view.is_selecting ? command::move_range : command::set_range, range);
  view.is_selecting = true;
  view.pushed_range = range;
}

// `at`: the pointer's position on the axis.
void handle_wheel(const TimelineFrame& frame, double at) {
  const ImGuiIO& io = ImGui::GetIO();
  const double length = frame.picture.end - frame.picture.begin;
  const float sideways = io.MouseWheelH + (io.KeyShift ? io.MouseWheel : 0);
  if (sideways != 0) {
    frame.pan(-static_cast<double>(sideways) * length / 8);
  } else if (io.MouseWheel != 0) {
    frame.zoom(std::pow(io.KeyCtrl ? 4.0 : 1.25, static_cast<double>(io.MouseWheel)), at);
  }
}

// The context menu: of a block, of a time, of another kind of memory.
void open_menu(const TimelineFrame& frame, float x) {
  TimelineState& view = frame.view;
  const float y = ImGui::GetIO().MousePos.y;
  view.menu_at = frame.picture.axis_of(x);
  view.menu_position = clicked_position(frame, x);
  view.menu_block.reset();
  if (const auto block = frame.block_under({x, y})) view.menu_block = frame.blocks()->blocks()[*block];
  view.menu_heap.reset();
  for (std::size_t i = 0; i < frame.picture.heaps.size(); ++i)
    if (frame.picture.heaps[i].holds(y)) view.menu_heap = static_cast<std::uint32_t>(i);
  ImGui::OpenPopup("timeline menu");
}
void draw_menu(const TimelineFrame& frame) {
  if (!ImGui::BeginPopup("timeline menu")) return;
  TimelineState& view = frame.view;
  const MomentName at = frame.moment_at(view.menu_position);
  if (view.menu_block && view.menu_block->has_address()) {
    draw_block_menu(actions_of(*frame.state.source()->trace, frame.whole.heap, *view.menu_block), frame.commands);
    ImGui::Separator();
  }
  if (ImGui::MenuItem("Go to this time")) frame.commands.push(command::set_moment, at);
  if (ImGui::MenuItem("Pin this time")) frame.commands.push(command::set_pin, at);
  const double length = frame.picture.end - frame.picture.begin;
  if (ImGui::MenuItem("Zoom in here")) frame.show(view.menu_at - length / 16, view.menu_at + length / 16);
  const bool is_whole = frame.state.position().span.empty();
  if (ImGui::MenuItem("Show the whole trace", "0", false, !is_whole))
    frame.show(0, static_cast<double>(frame.whole.whole.end));
  if (ImGui::MenuItem("Compare with the previous step", "O", frame.state.position().overlays_step,
                      current_step(frame.state).has_value()))
    frame.commands.push(CommandId::overlay_step);
  if (view.menu_heap && *view.menu_heap < frame.picture.source.heaps.size()) {
    const TimelineHeap& heap = frame.picture.source.heaps[*view.menu_heap];
    if (ImGui::MenuItem(("Show " + heap.name + " in all views").c_str()))
      frame.commands.push(command::choose_heap, {frame.whole.heap.stream, heap.heap});
  }
  ImGui::EndPopup();
}

// Click, drag, wheel and hover over the lanes.
void handle_lanes(const TimelineFrame& frame, bool hovered, bool active) {
  const ImGuiIO& io = ImGui::GetIO();
  TimelineState& view = frame.view;
  const float x = std::clamp(io.MousePos.x, frame.picture.left, frame.picture.right() - 1);
  if (hovered) handle_wheel(frame, frame.picture.axis_of(x));
  if (active &&
      (ImGui::IsMouseDragging(ImGuiMouseButton_Right, 4) || ImGui::IsMouseDragging(ImGuiMouseButton_Middle, 4)))
    frame.pan(-static_cast<double>(io.MouseDelta.x) / frame.picture.width * (frame.picture.end - frame.picture.begin));
  if (hovered && ImGui::IsMouseReleased(ImGuiMouseButton_Right) && io.MouseDragMaxDistanceSqr[1] <= 16)
    open_menu(frame, x);
  draw_menu(frame);
  if (hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) view.pressed_at = frame.picture.axis_of(x);
  if (active && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4)) select_range(frame, x);
  if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    const bool in_range = !frame.state.position().range.empty() && view.pressed_at >= view.selected[0] &&
                          view.pressed_at <= view.selected[1];
    in_range ? frame.show(view.selected[0], view.selected[1])
             : frame.show(0, static_cast<double>(frame.whole.whole.end));
  } else if (hovered && ImGui::IsMouseReleased(ImGuiMouseButton_Left) && io.MouseDragMaxDistanceSqr[0] <= 16 &&
             io.MouseClickedLastCount[0] == 1) {
    const auto blocks = frame.blocks();
    const auto block = io.KeyAlt ? std::nullopt : frame.block_under({x, io.MousePos.y});
    const bool is_at_target = !io.KeyAlt && find_snap_target(frame.picture, frame.look, x).has_value();
    if (block && !is_at_target)
      select_block(frame, *blocks, *block, frame.pixel_of(x));
    else
      set_moment(frame, clicked_position(frame, x));
  }
  if (!active) view.is_selecting = false;
  if (!hovered || active) return;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const auto block = frame.block_under({x, io.MousePos.y});
  const bool has_tooltip = ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip);
  if (block && !find_snap_target(frame.picture, frame.look, x)) {
    const auto blocks = frame.blocks();
    draw_block_contour(draw, frame.look, frame.picture, frame.view.bands, *blocks, *block, Role::text);
    if (has_tooltip) draw_block_tooltip(frame, *blocks, *block, x);
    return;
  }
  const float middle = std::floor(x) + 0.5F;
  draw.AddLine({middle, frame.picture.top}, {middle, frame.picture.bottom}, frame.look.role(Role::text, 0.4F));
  if (has_tooltip) draw_column_tooltip(frame, x);
}

// The band with the handle of the current time. Dragging in it moves the time.
void handle_scrubber(const TimelineFrame& frame, bool active) {
  if (!active) {
    frame.view.is_scrubbing = false;
    return;
  }
  const float x = std::clamp(ImGui::GetMousePos().x, frame.picture.left, frame.picture.right() - 1);
  const auto target = ImGui::GetIO().KeyAlt ? std::nullopt : find_snap_target(frame.picture, frame.look, x);
  set_moment(frame, target ? target->position : frame.picture.position_after(frame.pixel_of(x)));
  frame.view.is_scrubbing = true;
}

void handle_strip(const TimelineFrame& frame, bool active, bool hovered) {
  const double at = frame.whole.axis_at(
      std::clamp(static_cast<double>(ImGui::GetMousePos().x - frame.picture.left) / frame.picture.width, 0.0, 1.0));
  if (hovered) handle_wheel(frame, std::clamp(at, frame.picture.begin, frame.picture.end));
  if (!active) return;
  const double length = frame.picture.end - frame.picture.begin;
  if (ImGui::IsItemActivated()) {
    const bool holds = at >= frame.picture.begin && at <= frame.picture.end;
    frame.view.grip = holds ? at - frame.picture.begin : length / 2;  // A press outside centres the visible part there.
  }
  frame.pan(at - frame.view.grip - frame.picture.begin);
}

void handle_keys(const TimelineFrame& frame) {
  const ImGuiIO& io = ImGui::GetIO();
  if (frame.view.zoom_seen != frame.state.window.zoom_serial) {  // The key 0 shows everything.
    frame.view.zoom_seen = frame.state.window.zoom_serial;
    if (frame.state.is_in_front(ViewKind::timeline)) frame.show(0, static_cast<double>(frame.whole.whole.end));
  }
  if (!ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows) || io.WantTextInput || io.KeyAlt || io.KeyCtrl)
    return;
  const double middle = (frame.picture.begin + frame.picture.end) / 2, length = frame.picture.end - frame.picture.begin;
  if (ImGui::IsKeyPressed(ImGuiKey_LeftArrow)) frame.commands.push(CommandId::previous_event);
  if (ImGui::IsKeyPressed(ImGuiKey_RightArrow)) frame.commands.push(CommandId::next_event);
  if (ImGui::IsKeyPressed(ImGuiKey_W)) frame.zoom(1.25, middle);
  if (ImGui::IsKeyPressed(ImGuiKey_S)) frame.zoom(0.8, middle);
  if (ImGui::IsKeyPressed(ImGuiKey_A)) frame.pan(-length / 8);
  if (ImGui::IsKeyPressed(ImGuiKey_D)) frame.pan(length / 8);
  if (ImGui::IsKeyPressed(ImGuiKey_Y)) frame.view.fits_y = !frame.view.fits_y;
}

// Updates the position of the selected range on the axis, once its answer is known.
void follow_range(const TimelineFrame& frame) {
  const TimeRange& range = frame.state.position().range;
  const auto& answer = frame.state.answers().range;
  if (range.empty() || answer.state != AnswerState::ready || answer.value->range != range) return;
  if (range == frame.view.selected_as && frame.view.selected_in.lock() == answer.value->trace) return;
  const auto axis_of = [&](const Moment& moment, std::int64_t time_ns) {
    const std::uint64_t position = moment.positions[frame.whole.heap.stream];
    return frame.whole.axis_at(frame.whole.share_of(position, time_ns));
  };
  const std::size_t stream = frame.whole.heap.stream;
  frame.view.selected[0] = axis_of(answer.value->from, answer.value->from_ns[stream]);
  frame.view.selected[1] = axis_of(answer.value->to, answer.value->to_ns[stream]);
  frame.view.selected_as = range;
  frame.view.selected_in = answer.value->trace;
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
  if (!range.empty() && range == frame.view.selected_as)
    draw_selected_range(draw, frame.look, frame.picture, frame.view.selected[0], frame.view.selected[1]);
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
  }
  draw_moment_line(draw, frame.look, frame.picture, now, scrubber);
}

// What the picture is, and what of it has no room.
std::string caption_words(const AppState& state, const TimelinePicture& picture, bool fits_y, bool has_strip,
                          const TimelineOverlay* overlay) {
  std::string words;
  if (!picture.source.heap.empty()) {
    const auto coloring = shown_coloring(state);
    if (overlay != nullptr)
      words = "white line: " + overlay->what.words + ", at most " + text_from_bytes(overlay->columns->in_use_most) +
              " here; ";
    words += "in use" + (coloring ? " by " + lower_title_of(box_coloring(*coloring, *state.context().colors)) : "") +
             "; " + words_of_lines(picture, fits_y);
  }
  if (const std::string missing = words_not_drawn(picture, has_strip); !missing.empty())
    words += (words.empty() ? "" : "; ") + missing;
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
  const float axis = ImGui::GetTextLineHeight() + look.px(8);
  bool has_strip = false;
  float strip = 0;
  ImVec2 from, to;
  const auto place = [&] {
    has_strip = room.y > look.px(130);
    strip = has_strip ? look.px(16) : 0;
    from = {std::floor(corner.x + gutter), std::floor(corner.y + scrubber)};
    to = {std::floor(corner.x + room.x - look.px(6)),
          std::floor(corner.y + room.y - axis - strip - (has_strip ? look.px(3) : 0))};
    return to.x - from.x >= 16 && to.y - from.y >= look.px(24);
  };
  const auto overlay = shown_overlay(state);
  const auto steps = state.answers().steps.value;
  PictureOptions options{state.position().span, view.fits_y};
  if (overlay) options.overlay_most = overlay->columns->in_use_most;
  options.has_steps =
      steps && steps->trace == state.source()->trace && steps->heap == whole->heap && leave_something(*steps);
  if (caption.draw == nullptr) {
    caption = {ImGui::GetWindowDrawList(), {corner.x + gutter, corner.y}, room.x - gutter};
    corner.y += ImGui::GetTextLineHeight() + look.px(2);
    room.y -= ImGui::GetTextLineHeight() + look.px(2);
  }
  if (!place()) return ImGui::EndChild();
  const int width = static_cast<int>(to.x - from.x);
  const TimelinePicture picture = make_picture(*whole, part.get(), options, from, to, look);
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
