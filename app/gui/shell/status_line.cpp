#include "app/gui/shell/status_line.h"

#include <string>

#include <fmt/format.h>
#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/amounts.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/block_table.h"
#include "app/gui/core/filter_text.h"
#include "app/gui/core/glossary.h"
#include "app/gui/core/read_so_far.h"
#include "app/gui/core/running_work.h"
#include "app/gui/core/span_text.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/icons.h"

namespace hbmscope::gui {
namespace {

std::string seen_text(const ProfileView& view) {
  return text_from_count(static_cast<std::int64_t>(view.sample_count())) + " of " +
         text_from_count(static_cast<std::int64_t>(view.profile->sample_count())) + " samples, " +
         amount_text(view, view.selected.bytes) + " of " + amount_text(view, view.total.bytes) + " (" +
         text_from_share(view.selected.bytes, view.total.bytes) + " of the profile)";
}

void divide() {
  ImGui::SameLine(0, ImGui::GetFontSize());
  dim_text("|");
  ImGui::SameLine(0, ImGui::GetFontSize());
}

// What concerns all views of a trace: how much of it was read, and the current heap at the selected time.
void draw_trace(const AppState& state, const Source& source, CommandQueue& commands) {
  const Trace& trace = *source.trace;
  const ReadSoFar taken = read_so_far(source);
  const Look look(state);
  ImGui::PushStyleColor(ImGuiCol_Button, ImVec4(0, 0, 0, 0));
  ImGui::PushStyleColor(ImGuiCol_Text,
                        taken.is_whole ? ImGui::GetStyleColorVec4(ImGuiCol_Text) : look.vec(Role::failure));
  if (ImGui::SmallButton(
          ((taken.is_whole ? "" : std::string(icon::warning) + "  ") + taken.words + "###taken in").c_str()))
    commands.push(command::set_view, ViewKind::import);
  ImGui::PopStyleColor(2);
  tooltip(
      "How much of the file was read. Click to open Import, which lists what is missing and why. Other entries are "
      "markers, counters, attributes and computed frees.");
  // What the heap map shows; the figures of a running job stay until the next ones are ready.
  const auto moment = drawn_moment(state);
  if (!moment || (moment->trace.get() != &trace && !source.live)) return;
  const HeapKey key = choose_heap(*moment->trace, state.position().heap);
  if (key.empty()) return;
  const HeapState& heap = moment->heap(key);
  const auto external = external_fragmentation(heap);
  const auto largest = heap.space.largest_free();
  if (external && largest) {
    divide();
    // Of a pool that is all but full, the share says nothing: nearly every request is too large for all of its free
    // memory.
    const bool has_room = heap.space.free_bytes().value_or(0) >= heap.space.region_bytes().value_or(0) / 20;
    text((has_room ? "external fragmentation " + text_from_known_share(external) + ", " : std::string()) +
         "largest free block " + text_from_bytes(static_cast<std::int64_t>(*largest)));
    tooltip(std::string(meaning_of("external fragmentation")) + "\nHere " + phrase_of(*moment, key) + ".");
  }
}

// What the selected frame holds.
void draw_selected(const AppState& state) {
  const ViewPosition& position = state.position();
  const auto blocks = highlighted_blocks(state);
  if (blocks == nullptr || !selects_blocks(position)) return;
  divide();
  text("selected: " + (position.also.empty() ? position.selection.function + ", " : "") + blocks_sentence(*blocks));
}

// No message for answers that take less time than this.
constexpr auto patience = std::chrono::milliseconds(300);

// One line for all running work: it names the longest running one, and Cancel cancels all of it.
void draw_work(const AppState& state, CommandQueue& commands) {
  const std::vector<RunningWork> running = running_work(state.contexts);
  if (!running.empty() && std::chrono::steady_clock::now() - running.front().since > patience) {
    const RunningWork& first = running.front();
    divide();
    std::string words = "computing " + std::string(first.what);
    if (first.total_events > 0)
      words += ": " + text_from_share(static_cast<std::int64_t>(first.done_events),
                                      static_cast<std::int64_t>(first.total_events));
    if (running.size() > 1)
      words += ", and " + text_from_count(static_cast<std::int64_t>(running.size() - 1)) + " more";
    dim_text(words);
    ImGui::SameLine();
    if (ImGui::SmallButton("Cancel")) commands.push(CommandId::stop_work);
    tooltip(info_of(CommandId::stop_work).help);
  } else if (running.empty() && has_stopped_work(state.contexts)) {
    divide();
    dim_text("cancelled");
    ImGui::SameLine();
    if (ImGui::SmallButton("Resume")) commands.push(CommandId::go_on_working);
    tooltip(info_of(CommandId::go_on_working).help);
  }
}

}  // namespace

void draw_status_line(const AppState& state, CommandQueue& commands) {
  ImGui::SetCursorPosX(ImGui::GetStyle().WindowPadding.x + 2);
  ImGui::AlignTextToFramePadding();
  const Source* source = state.source();
  const auto& view = state.answers().view;
  if (source != nullptr && source->trace) {
    draw_trace(state, *source, commands);
  } else if (!view.value) {
    dim_text(source == nullptr ? "" : source->name());
  } else {
    text(seen_text(*view.value));
    tooltip(exact_amount_text(*view.value, view.value->selected.bytes) + " of " +
            exact_amount_text(*view.value, view.value->total.bytes));
    if (view.value->total.unknown > 0) {
      divide();
      text("? " + text_from_count(view.value->total.unknown) + " of unknown size");
      tooltip("Counted, but not in the sum.");
    }
    if (source != nullptr && source->profile && is_device_memory_profile(*source->profile)) {
      divide();
      dim_text("array sizes, before rounding and padding");
    }
  }
  if (source != nullptr && source->trace && view.value && view.value->selected.bytes != view.value->total.bytes) {
    divide();
    text("filtered to " + amount_text(*view.value, view.value->selected.bytes) + " of " +
         amount_text(*view.value, view.value->total.bytes));
  }
  draw_selected(state);
  draw_work(state, commands);
  if (state.window.notice.empty()) return;
  divide();
  const float space = ImGui::GetContentRegionAvail().x - ImGui::GetStyle().WindowPadding.x;
  text(shortened(state.window.notice, space));
  tooltip(state.window.notice);
}

}  // namespace hbmscope::gui
