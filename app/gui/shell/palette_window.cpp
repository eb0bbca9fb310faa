#include "app/gui/shell/palette_window.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <imcmd_fuzzy_search.h>
#include <imgui.h>

#include "analysis/query/block_find.h"
#include "analysis/query/block_list.h"
#include "analysis/query/where.h"
#include "analysis/units/contains.h"
#include "analysis/units/format.h"
#include "app/gui/core/filter_values.h"
#include "app/gui/core/marked_span.h"
#include "app/gui/core/place_text.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/text_field.h"
#include "app/gui/sources/trace_moment.h"

namespace hbmscope::gui {
namespace {

struct Found {
  const CommandInfo* info;
  int score;
};

// Without a text: the last used ones first.
std::vector<Found> find_commands(Host host, const std::string& typed, const std::vector<CommandId>& recent) {
  std::vector<Found> found;
  for (const CommandInfo& info : command_table()) {
    if (info.is_hidden || !is_offered(host, info.id)) continue;
    const std::string words = std::string(info.title) + " " + std::string(info.menu);
    int score = 0;
    if (typed.empty()) score = static_cast<int>(recent.end() - std::find(recent.begin(), recent.end(), info.id));
    if (!typed.empty() && !ImCmd::FuzzySearch(typed.c_str(), words.c_str(), score)) continue;
    // Letters of a whole title are no accident: "Top" is the view, not "Go to the peak".
    constexpr int whole_word = 1000;
    const auto ends_title = [&](std::string_view before) {
      const std::string whole = std::string(before) + typed;
      return whole.size() == info.title.size() && contains_ignoring_case(info.title, whole);
    };
    if (!typed.empty() && (ends_title("") || ends_title("Show "))) score += whole_word;
    found.push_back({&info, score});
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.score > b.score; });
  return found;
}

// A place in the active trace that the typed text can refer to.
struct Place {
  std::string title, help;
  std::vector<Command> commands;
};

std::vector<Place> find_bookmarks(const AppState& state, const std::string& typed) {
  std::vector<Place> places;
  for (const Bookmark& bookmark : bookmarks_of(state, *state.source())) {
    const std::string title = "Go to the bookmark " + bookmark.name();
    int score = 0;
    if (ImCmd::FuzzySearch(typed.c_str(), (title + " " + bookmark.title).c_str(), score))
      places.push_back({title, bookmark.title, {{command::go_to_bookmark, bookmark.id}}});
  }
  return places;
}

// Code, tags and categories of the file that contain the text, the largest ones of each first.
void add_values(const AppState& state, const std::string& typed, std::vector<Place>& places) {
  const auto& values = state.answers().filter_values;
  constexpr std::size_t letters_min = 2, places_max = 5;
  if (typed.size() < letters_min || !values.value || values.state != AnswerState::ready) return;
  const bool is_trace = state.source()->trace != nullptr;
  for (const char* const field : {is_trace ? "own" : "function", "tag", "category"}) {
    const auto found = values.value->find(field);
    if (found == values.value->end()) continue;
    std::size_t added = 0;
    for (const FilterValue& value : found->second) {
      if (added == places_max) break;
      if (!contains_ignoring_case(value.text, typed)) continue;
      ++added;
      Place place{value.text + "   " + text_from_bytes(value.bytes), "Filters all views to it.", {}};
      if (is_trace) {
        place.commands = {{command::set_filter, std::string(field) + "=" + where_quote(value.text)}};
      } else {
        place.help = "Selects it in all views.";
        place.commands = {{command::select_function, value.text}};
      }
      places.push_back(std::move(place));
    }
  }
}

std::vector<Place> find_places(const AppState& state, const std::string& typed) {
  if (typed.empty() || state.source() == nullptr) return {};
  std::vector<Place> places = find_bookmarks(state, typed);
  if (!state.source()->trace) {
    add_values(state, typed, places);
    return places;
  }
  const Trace& trace = *state.source()->trace;
  const std::string where = where_from_find(typed);
  constexpr std::string_view address = "address=";
  if (where.starts_with(address)) {
    const std::string number = where.substr(address.size());
    if (const auto parsed = parse_address(number))
      places.push_back({"Go to the address " + number,
                        "Selects what lies there, in any heap.",
                        {{command::go_to_address, *parsed}}});
  }
  const bool is_time = typed.find_first_of("#0123456789") == 0;
  if (const auto moment = is_time ? std::optional(find_moment(trace, typed)) : std::nullopt; moment && *moment)
    places.push_back({"Go to the time " + (*moment)->text, "All views show it.", {{command::set_moment, typed}}});
  constexpr std::size_t markers_max = 5;
  for (MarkerOffer& offer : offer_markers(state, trace, typed, markers_max))
    places.push_back({"Go to " + offer.words,
                      offer.is_one_of_many ? "Where it begins the next time after the shown one."
                                           : "The time at which this marker begins.",
                      {{command::show_marked_span, offer.place}}});
  // A plain word is taken as a command's name; Find searches for it in code.
  const bool is_word = where == typed && typed.find_first_of(":<>=0123456789") == std::string::npos;
  if (!is_word && parse_where(where, block_where_fields(trace)))
    places.push_back({"Find blocks: " + typed,
                      "Highlights them in the heap map and lists them in Blocks. F3 goes to the next.",
                      {CommandId::show_heap_map, {command::set_filter, typed}}});
  if (is_word) add_values(state, typed, places);
  return places;
}

void go(const Place& place, CommandQueue& commands) {
  commands.push(CommandId::palette);  // Closes it.
  for (const Command& command : place.commands) commands.push(command);
}

void draw_places(const PaletteState& palette, const std::vector<Place>& places, bool moved, CommandQueue& commands) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::Selectable(places[i].title.c_str(), i == palette.chosen)) go(places[i], commands);
    if (i == palette.chosen && moved) ImGui::SetScrollHereY();
    tooltip(places[i].help);
    ImGui::PopID();
  }
}

void give(const AppState& state, PaletteState& palette, CommandId id, CommandQueue& commands) {
  commands.push(CommandId::palette);  // Closes it.
  std::erase(palette.recent, id);
  palette.recent.insert(palette.recent.begin(), id);
  if (why_not(state, id).empty() && id != CommandId::palette) commands.push(id);
}

void draw_rows(const AppState& state, PaletteState& palette, const std::vector<Found>& found, std::size_t places,
               bool moved, CommandQueue& commands) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool is_chosen = places + i == palette.chosen;
    const CommandInfo& info = *found[i].info;
    const std::string_view reason = why_not(state, info.id);
    ImGui::PushID(static_cast<int>(info.id));
    const std::string title(info.title);
    if (!reason.empty()) ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyle().Colors[ImGuiCol_TextDisabled]);
    if (ImGui::Selectable(title.c_str(), is_chosen, ImGuiSelectableFlags_AllowOverlap))
      give(state, palette, info.id, commands);
    if (!reason.empty()) ImGui::PopStyleColor();
    if (is_chosen && moved) ImGui::SetScrollHereY();
    tooltip(reason.empty() ? info.help : reason);
    const std::string right = reason.empty()
                                  ? std::string(info.menu) + "   " + std::string(shortcut_on(state.host, info))
                                  : std::string(reason);
    ImGui::SameLine(0, ImGui::GetFontSize());
    const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(right.c_str()).x - ImGui::GetFontSize();
    if (reason.empty() && room > 8 * ImGui::GetFontSize()) {
      dim_text(shortened(info.help, room));
      ImGui::SameLine();
    }
    right_text(right, true);
    ImGui::PopID();
  }
}

}  // namespace

void draw_palette(const AppState& state, PaletteState& palette, CommandQueue& commands) {
  if (!state.window.palette_open) {
    palette.was_open = false;
    return;
  }
  const Look look(state);
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  const bool appeared = !palette.was_open;
  palette.was_open = true;
  if (appeared) palette.typed.clear(), palette.chosen = 0;
  const float width = std::min(look.px(760), viewport.WorkSize.x * 0.9F);
  ImGui::SetNextWindowPos({viewport.WorkPos.x + (viewport.WorkSize.x - width) / 2, viewport.WorkPos.y + look.px(60)});
  // As high as its rows, up to a limit.
  const ImGuiStyle& style = ImGui::GetStyle();
  const float rows_height =
      static_cast<float>(std::max<std::size_t>(palette.rows, 1)) * ImGui::GetTextLineHeightWithSpacing();
  const float height = ImGui::GetFrameHeightWithSpacing() + 2 * style.WindowPadding.y + rows_height;
  ImGui::SetNextWindowSize({width, std::min({height, look.px(430), viewport.WorkSize.y * 0.7F})});
  if (appeared) ImGui::SetNextWindowFocus();
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyle().Colors[ImGuiCol_PopupBg]);
  constexpr ImGuiWindowFlags flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                     ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings;
  if (ImGui::Begin("Command palette", nullptr, flags)) {
    if (appeared) ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-1);
    const bool has_trace = state.source() != nullptr && state.source()->trace;
    const char* const hint = has_trace
                                 ? "A command, a function, a tag, an address, size>1GiB, a time such as 1.2s, or a step"
                                 : "Type a few letters of a command";
    if (text_field("##command", hint, palette.typed)) palette.chosen = 0;
    const std::vector<Found> found = find_commands(state.host, palette.typed, palette.recent);
    const std::vector<Place> places = find_places(state, palette.typed);
    const std::size_t rows = places.size() + found.size();
    // The window gets its height in the next frame.
    if (std::exchange(palette.rows, rows) != rows) commands.push(CommandId::draw_again);
    if (state.source() != nullptr && palette.typed.size() > 1) commands.ask(Question::filter_values);
    bool moved = false;
    if (rows > 0) {
      if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) palette.chosen = (palette.chosen + 1) % rows, moved = true;
      if (ImGui::IsKeyPressed(ImGuiKey_UpArrow)) palette.chosen = (palette.chosen + rows - 1) % rows, moved = true;
      palette.chosen = std::min(palette.chosen, rows - 1);
      if (ImGui::IsKeyPressed(ImGuiKey_Enter, false)) {
        if (palette.chosen < places.size())
          go(places[palette.chosen], commands);
        else
          give(state, palette, found[palette.chosen - places.size()].info->id, commands);
      }
    } else {
      dim_text("Nothing matches \"" + palette.typed + "\".");
    }
    if (ImGui::GetIO().WantTextInput && ImGui::IsKeyPressed(ImGuiKey_Escape, false)) commands.push(CommandId::palette);
    ImGui::BeginChild("found");
    draw_places(palette, places, moved, commands);
    draw_rows(state, palette, found, places.size(), moved, commands);
    ImGui::EndChild();
    // A click elsewhere closes it.
    if (!appeared && !ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows) &&
        ImGui::IsMouseClicked(ImGuiMouseButton_Left))
      commands.push(CommandId::palette);
  }
  ImGui::End();
  ImGui::PopStyleColor();
}

}  // namespace hbmscope::gui
