#include "app/gui/views/sources_panel/draw_sources_panel.h"

#include <algorithm>

#include "analysis/units/format.h"
#include "app/gui/core/amounts.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/source_facts.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/icons.h"
#include "app/gui/look/source_state.h"
#include "app/gui/views/demo/draw_demo_panel.h"
#include "app/gui/views/sources_panel/draw_heap_tree.h"

namespace hbmscope::gui {
namespace {

// Profiles have few kinds. Hues by size would change their meaning between devices, so each kind in JAX's profiles has
// a fixed hue, and all others share the neutral one.
Role role_of_kind(const std::optional<std::string>& kind) {
  if (!kind) return Role::several;
  if (*kind == "buffer") return Role::parameters;
  if (*kind == "executable") return Role::code_constants;
  return Role::several;
}

std::string name_of_kind(const std::optional<std::string>& kind) {
  return kind ? *kind : "(unknown kind)";
}

void draw_bar(const Look& look, const DeviceAccount& account, std::string_view unit, std::int64_t largest) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = look.px(14);
  ImGui::InvisibleButton("bar", {std::max(1.0F, width), height});
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(from, {from.x + width, from.y + height}, look.role(Role::free), look.px(2));
  float x = from.x;
  for (const KindAmount& amount : account.kinds) {
    const double share = largest == 0 ? 0 : static_cast<double>(amount.weight.bytes) / static_cast<double>(largest);
    const float part = static_cast<float>(share) * width;
    if (part <= 0) continue;
    draw.AddRectFilled({x, from.y}, {std::max(x + 1, x + part - 1), from.y + height},
                       look.role(role_of_kind(amount.kind)), look.px(2));
    x += part;
  }
  std::string words = account.device ? *account.device : "Samples without a device.";
  for (const KindAmount& amount : account.kinds) {
    words += "\n" + name_of_kind(amount.kind) + "  " + amount_text(unit, amount.weight.bytes) + " (" +
             exact_amount_text(unit, amount.weight.bytes) + "), count " + text_from_count(amount.weight.count);
    if (amount.weight.unknown > 0) words += ", " + text_from_count(amount.weight.unknown) + " of unknown size";
  }
  tooltip(words + "\nThe full width of the bar is the total of the largest device.");
}

bool is_filtered_to(const AppState& state, const std::string& term) {
  return state.position().request.where.find(term) != std::string::npos;
}

void draw_device(const AppState& state, const Look& look, const Source& source, const DeviceAccount& account,
                 std::int64_t largest, CommandQueue& commands) {
  const std::string_view unit = source.summary->unit;
  const bool in_front = source.id == state.position().source;
  const std::string term = account.device ? "device=" + where_quote(*account.device) : "";
  const bool chosen = in_front && !term.empty() && is_filtered_to(state, term);
  const float right = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x;
  const bool nothing_known = account.total.bytes == 0 && account.total.unknown > 0;
  const std::string amount = nothing_known ? "?" : amount_text(unit, account.total.bytes);
  // A device's name ends with its number, which must stay visible.
  const float room =
      ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(amount.c_str()).x - ImGui::GetFontSize() / 2;
  const std::string name = shortened(account.short_name, room, account.device.has_value());
  if (ImGui::Selectable(name.c_str(), chosen, ImGuiSelectableFlags_AllowOverlap) && in_front && !term.empty())
    commands.push(command::add_filter, term);
  if (in_front && !term.empty())
    tooltip(*account.device + "\nClick to show only this device, click again to show all.");
  ImGui::SameLine();
  ImGui::SetCursorPosX(right - ImGui::CalcTextSize(amount.c_str()).x);
  text(amount);
  tooltip(exact_amount_text(unit, account.total.bytes) + ", count " + text_from_count(account.total.count));
  if (account.total.bytes != 0) draw_bar(look, account, unit, largest);
}

void draw_file_menu(const AppState& state, const Source& source, CommandQueue& commands) {
  if (!ImGui::BeginPopupContextItem("file")) return;
  if (ImGui::MenuItem("Bring to the front")) commands.push(command::show_source_file, source.id);
  const bool other = source.id != state.position().source && source.state == AnswerState::ready;
  if (ImGui::MenuItem("Compare the file in front with this", nullptr, false, other))
    commands.push(command::compare_with, source.id);
  if (ImGui::MenuItem("Show side by side with the file in front", nullptr, false, source.state == AnswerState::ready))
    commands.push(command::split_with, source.id);
  if (ImGui::MenuItem(source.pieces.empty() ? "Copy path" : "Copy paths"))
    commands.push(command::set_clipboard, source.files_text());
  if (ImGui::MenuItem("Close")) commands.push(command::close_source, source.id);
  ImGui::EndPopup();
}

void draw_legend(const Look& look, const std::vector<DeviceAccount>& accounts, std::string_view unit) {
  std::vector<std::optional<std::string>> kinds;
  for (const DeviceAccount& account : accounts)
    for (const KindAmount& amount : account.kinds)
      if (std::find(kinds.begin(), kinds.end(), amount.kind) == kinds.end()) kinds.push_back(amount.kind);
  for (const auto& kind : kinds) {
    const float side = look.px(10);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float top = at.y + (ImGui::GetTextLineHeight() - side) / 2;
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + side, top + side}, look.role(role_of_kind(kind)),
                                              look.px(2));
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + side + look.px(5));
    Weight sum;
    for (const DeviceAccount& account : accounts)
      for (const KindAmount& amount : account.kinds)
        if (amount.kind == kind) sum += amount.weight;
    const std::string amount = sum.bytes == 0 && sum.unknown > 0 ? "?" : amount_text(unit, sum.bytes);
    const float room =
        ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(amount.c_str()).x - ImGui::GetStyle().ItemSpacing.x;
    dim_text(shortened(name_of_kind(kind), room));
    ImGui::SameLine();
    right_text(amount, true);
    if (sum.unknown > 0)
      tooltip(text_from_count(sum.unknown) + " of unknown size, which are counted but not in the sum.");
  }
}

// "needs 8.28 GiB", by which the programs of a folder are sorted; "peak 78.3 GiB in use"; "2.86 GiB in 447
// allocations".
std::string held_text(const Source& source) {
  if (source.needed_bytes) return "needs " + text_from_bytes(*source.needed_bytes);
  if (!source.attached.empty() && source.devices.empty()) return "no blocks known";
  if (source.trace) return headline_of(source);
  const Weight& total = source.summary->total;
  return amount_text(source.summary->unit, total.bytes) + " in " + text_from_count(total.count) + " allocations";
}

// "  (A)": the side that shows it.
std::string sides_of(const AppState& state, const Source& source) {
  std::string letters;
  for (std::size_t side = 0; state.is_split() && side < state.contexts.size(); ++side)
    if (state.contexts[side].position.source == source.id)
      letters += (letters.empty() ? "" : ", ") + std::string(side_name(side));
  return letters.empty() ? letters : "  (" + letters + ")";
}

void draw_file(const AppState& state, const Look& look, const Source& source, BookmarksState& bookmarks,
               CommandQueue& commands) {
  const bool in_front = source.id == state.position().source;
  const bool is_baseline = source.id == state.position().baseline;
  ImGui::PushID(static_cast<int>(source.id));
  if (in_front) ImGui::PushFont(bold_font(), 0.0F);
  const std::string role = sides_of(state, source) + (is_baseline ? "  (baseline)" : "");
  const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(role.c_str()).x;
  const std::string name = shortened(source.name(), room) + role;
  if (ImGui::Selectable(name.c_str(), in_front)) commands.push(command::show_source_file, source.id);
  if (in_front) ImGui::PopFont();
  draw_file_menu(state, source, commands);
  tooltip(source.files_text());
  ImGui::Indent(look.px(10));
  draw_source_state(state, source);
  if (source.control && !source.live) draw_reading(source, commands);
  if (source.state == AnswerState::failed) {
    ImGui::PushStyleColor(ImGuiCol_Text, look.role(Role::failure));
    text(std::string(icon::warning) + "  can't be read");
    ImGui::PopStyleColor();
    tooltip(source.error.text());
  }
  if (source.state == AnswerState::ready) {
    // The heaps of a trace are listed at the shown time; its end would be another figure beside them.
    const bool has_heaps = source.trace && !source.devices.empty();
    if (!in_front || !has_heaps || source.needed_bytes) {
      wrapped_text(held_text(source), true);
      tooltip(source.summary->headline);
    }
    if (in_front && has_heaps) {
      draw_heap_tree(state, commands);
    } else if (in_front) {
      std::int64_t largest = 0;
      for (const DeviceAccount& account : source.accounts) largest = std::max(largest, account.total.bytes);
      for (std::size_t i = 0; i < source.accounts.size(); ++i) {
        ImGui::PushID(static_cast<int>(i));
        draw_device(state, look, source, source.accounts[i], largest, commands);
        ImGui::PopID();
      }
      ImGui::Spacing();
      draw_legend(look, source.accounts, source.summary->unit);
      draw_heap_tree(state, commands);
    }
    if (in_front && !source.plans_folder.empty()) {
      if (ImGui::Button("Open programs")) commands.push(command::open_folder_path, source.plans_folder);
      tooltip("Opens the compiler's memory plan of each program: HBM and VMEM, value by value.");
    }
    draw_bookmarks(state, source, bookmarks, commands);
  }
  ImGui::Unindent(look.px(10));
  ImGui::PopID();
}

}  // namespace

void draw_sources(const AppState& state, BookmarksState& bookmarks, CommandQueue& commands) {
  const Look look(state);
  draw_demo_panel(state, commands);
  for (const Source& source : state.sources) {
    draw_file(state, look, source, bookmarks, commands);
    ImGui::Spacing();
  }
  ImGui::Separator();
  const float right = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x;
  if (ImGui::Button("Open file...")) commands.push(CommandId::open_file);
  // With large text there is no room on the same line.
  const ImGuiStyle& style = ImGui::GetStyle();
  const float end_of_next = ImGui::GetItemRectMax().x - ImGui::GetWindowPos().x + style.ItemSpacing.x +
                            ImGui::CalcTextSize("Compare...").x + 2 * style.FramePadding.x;
  if (end_of_next <= right) ImGui::SameLine();
  if (ImGui::Button("Compare...")) commands.push(CommandId::compare_with_file);
  tooltip("Opens a file as the baseline of the one in front.");
}

}  // namespace hbmscope::gui
