#include "app/gui/shell/layout_memory.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <imgui.h>
#include <imgui_internal.h>  // Handlers of settings have no public API yet.

#include "app/gui/core/view_row.h"

namespace hbmscope::gui {
namespace {

constexpr const char* section = "Layout";
constexpr const char* shown_entry = "shown";
constexpr std::array<const char*, layout_kind_count> names{"profile",     "trace",     "text",
                                                           "low profile", "low trace", "low text"};
// Before each line of a kept text, so that it is not taken for ImGui's own.
constexpr char margin = '|';

std::optional<LayoutKind> kind_of(std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<LayoutKind>(found - names.begin());
}

bool is_docked_window(std::string_view title) {
  return title == "Sources" || title == "Inspector" ||
         std::any_of(view_table().begin(), view_table().end(), [&](const ViewRow& row) { return title == row.title; });
}

// Where the views are docked, without the columns of tables and the places of other windows, which all kinds share.
bool is_of_layout(std::string_view header) {
  constexpr std::string_view window = "[Window][";
  if (header.starts_with("[Docking]")) return true;
  return header.starts_with(window) &&
         is_docked_window(header.substr(window.size(), header.size() - window.size() - 1));
}

template <class Visit>
void for_each_line(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
}

std::string save_layout() {
  std::size_t size = 0;
  const char* const all = ImGui::SaveIniSettingsToMemory(&size);
  std::string kept;
  bool is_kept = false;
  for_each_line({all, size}, [&](std::string_view line) {
    if (line.starts_with('[')) is_kept = is_of_layout(line);
    if (is_kept && !line.empty()) kept += std::string(line) + '\n';
  });
  return kept;
}

}  // namespace

LayoutMemory::LayoutMemory() {
  ImGuiSettingsHandler handler;
  handler.TypeName = section;
  handler.TypeHash = ImHashStr(section);
  handler.UserData = this;
  handler.ReadOpenFn = [](ImGuiContext*, ImGuiSettingsHandler* own, const char* name) -> void* {
    auto& memory = *static_cast<LayoutMemory*>(own->UserData);
    if (std::string_view(name) == shown_entry) return &memory.shown_;
    const auto kind = kind_of(name);
    if (!kind) return nullptr;
    memory.text(*kind).clear();
    return &memory.text(*kind);
  };
  handler.ReadLineFn = [](ImGuiContext*, ImGuiSettingsHandler* own, void* entry, const char* line) {
    auto& memory = *static_cast<LayoutMemory*>(own->UserData);
    if (line[0] != margin) return;
    if (entry == &memory.shown_)
      memory.shown_ = kind_of(line + 1);
    else
      *static_cast<std::string*>(entry) += std::string(line + 1) + '\n';
  };
  handler.WriteAllFn = [](ImGuiContext*, ImGuiSettingsHandler* own, ImGuiTextBuffer* out) {
    const auto& memory = *static_cast<const LayoutMemory*>(own->UserData);
    if (!memory.shown_) return;
    out->appendf("[%s][%s]\n%c%s\n\n", section, shown_entry, margin, names[static_cast<std::size_t>(*memory.shown_)]);
    for (std::size_t i = 0; i < layout_kind_count; ++i) {
      if (memory.texts_[i].empty()) continue;
      out->appendf("[%s][%s]\n", section, names[i]);
      for_each_line(memory.texts_[i], [&](std::string_view line) {
        out->appendf("%c%.*s\n", margin, static_cast<int>(line.size()), line.data());
      });
      out->append("\n");
    }
  };
  ImGui::AddSettingsHandler(&handler);
}

bool LayoutMemory::show(LayoutKind kind) {
  if (shown_) text(*shown_) = save_layout();
  shown_ = kind;
  const std::string wanted = std::exchange(text(kind), {});
  if (wanted.empty()) return false;
  ImGui::LoadIniSettingsFromMemory(wanted.data(), wanted.size());
  return true;
}

}  // namespace hbmscope::gui
