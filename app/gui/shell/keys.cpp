#include "app/gui/shell/keys.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <imgui_internal.h>

namespace hbmscope::gui {
namespace {

ImGuiKey parse_key(std::string_view name) {
  if (name.size() == 1) {
    const char character = name.front();
    if (character >= 'A' && character <= 'Z') return static_cast<ImGuiKey>(ImGuiKey_A + (character - 'A'));
    if (character >= '0' && character <= '9') return static_cast<ImGuiKey>(ImGuiKey_0 + (character - '0'));
    if (character == '=') return ImGuiKey_Equal;
    if (character == '-') return ImGuiKey_Minus;
    if (character == '[') return ImGuiKey_LeftBracket;
    if (character == ']') return ImGuiKey_RightBracket;
    if (character == ',') return ImGuiKey_Comma;
    if (character == '.') return ImGuiKey_Period;
  }
  if (name == "F10") return ImGuiKey_F10;
  if (name == "F11") return ImGuiKey_F11;
  if (name.size() == 2 && name[0] == 'F' && name[1] >= '1' && name[1] <= '9')
    return static_cast<ImGuiKey>(ImGuiKey_F1 + (name[1] - '1'));
  constexpr std::array<std::pair<std::string_view, ImGuiKey>, 6> named{{{"End", ImGuiKey_End},
                                                                        {"Left", ImGuiKey_LeftArrow},
                                                                        {"Right", ImGuiKey_RightArrow},
                                                                        {"Escape", ImGuiKey_Escape},
                                                                        {"Enter", ImGuiKey_Enter},
                                                                        {"Space", ImGuiKey_Space}}};
  for (const auto& [text, key] : named)
    if (text == name) return key;
  return ImGuiKey_None;
}

struct Binding {
  ImGuiKeyChord chord;
  CommandId id;
};

const std::vector<Binding>& bindings() {
  static const std::vector<Binding> all = [] {
    std::vector<Binding> made;
    for (const CommandInfo& info : command_table())
      if (const ImGuiKeyChord chord = parse_shortcut(info.shortcut); chord != 0) made.push_back({chord, info.id});
    // Alternative keys for back and forward (undo and redo).
    made.push_back({ImGuiMod_Ctrl | ImGuiKey_Z, CommandId::back});
    made.push_back({ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Z, CommandId::forward});
    return made;
  }();
  return all;
}

// A dialog, the palette or a menu has the keyboard, so letters must not act on the views behind it. Such windows can't
// be docked and have a title; the main window, which holds a maximised view, has none.
bool is_dialog_focused() {
  if (ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel)) return true;
  const ImGuiWindow* focused = ImGui::GetCurrentContext()->NavWindow;
  if (focused == nullptr) return false;
  const ImGuiWindowFlags flags = focused->RootWindow->Flags;
  return (flags & ImGuiWindowFlags_NoDocking) != 0 && (flags & ImGuiWindowFlags_NoTitleBar) == 0;
}

// The modifiers that are held, or were released in this frame. A frame may begin after a whole chord: P must not act
// alone because Ctrl and Shift were released in the meantime.
ImGuiKeyChord held_modifiers() {
  constexpr std::array<std::pair<ImGuiKey, ImGuiKeyChord>, 8> keys{{{ImGuiKey_LeftCtrl, ImGuiMod_Ctrl},
                                                                    {ImGuiKey_RightCtrl, ImGuiMod_Ctrl},
                                                                    {ImGuiKey_LeftShift, ImGuiMod_Shift},
                                                                    {ImGuiKey_RightShift, ImGuiMod_Shift},
                                                                    {ImGuiKey_LeftAlt, ImGuiMod_Alt},
                                                                    {ImGuiKey_RightAlt, ImGuiMod_Alt},
                                                                    {ImGuiKey_LeftSuper, ImGuiMod_Super},
                                                                    {ImGuiKey_RightSuper, ImGuiMod_Super}}};
  ImGuiKeyChord held = ImGui::GetIO().KeyMods;
  for (const auto& [key, modifier] : keys)
    if (ImGui::IsKeyReleased(key)) held |= modifier;
  return held;
}

bool is_pressed(ImGuiKeyChord chord, ImGuiKeyChord held) {
  const auto key = static_cast<ImGuiKey>(chord & ~ImGuiMod_Mask_);
  return (chord & ImGuiMod_Mask_) == held && ImGui::IsKeyPressed(key);
}

}  // namespace

ImGuiKeyChord parse_shortcut(std::string_view shortcut) {
  ImGuiKeyChord mods = 0;
  for (;;) {
    const std::size_t plus = shortcut.find('+');
    if (plus == std::string_view::npos) break;
    const std::string_view mod = shortcut.substr(0, plus);
    if (mod == "Ctrl") mods |= ImGuiMod_Ctrl;
    if (mod == "Shift") mods |= ImGuiMod_Shift;
    if (mod == "Alt") mods |= ImGuiMod_Alt;
    shortcut.remove_prefix(plus + 1);
  }
  const ImGuiKey key = parse_key(shortcut);
  return key == ImGuiKey_None ? 0 : mods | key;
}

void handle_keys(CommandQueue& commands) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool typing = io.WantTextInput, in_dialog = is_dialog_focused();
  const ImGuiKeyChord held = held_modifiers();
  // ImGui has closed a list or a menu with Escape by now, which is all that the key then does.
  static bool was_popup_open = false;
  const bool closes_popup =
      std::exchange(was_popup_open, ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup)) && !was_popup_open;
  for (const Binding& binding : bindings()) {
    const bool plain = (binding.chord & (ImGuiMod_Ctrl | ImGuiMod_Alt)) == 0;
    const ImGuiKeyChord key = binding.chord & ~ImGuiMod_Mask_;
    const bool letter = (key >= ImGuiKey_0 && key <= ImGuiKey_Z) || key == ImGuiKey_LeftBracket ||
                        key == ImGuiKey_RightBracket || key == ImGuiKey_Comma || key == ImGuiKey_Period ||
                        key == ImGuiKey_End || key == ImGuiKey_Space;
    if (typing && ((plain && letter) || key == ImGuiKey_Escape)) continue;
    if (closes_popup && key == ImGuiKey_Escape) continue;
    if (in_dialog && plain && letter) continue;
    // If a button has the keyboard focus, Space presses it.
    if (key == ImGuiKey_Space && io.NavVisible) continue;
    // Text fields have their own undo, copy and word jumps.
    const bool for_text = binding.id == CommandId::copy || binding.id == CommandId::paste || key == ImGuiKey_Z ||
                          key == ImGuiKey_LeftArrow || key == ImGuiKey_RightArrow;
    if (typing && for_text) continue;
    if (is_pressed(binding.chord, held)) commands.push(binding.id);
  }
  // The side buttons of the mouse: view back and forward.
  if (ImGui::IsMouseClicked(3)) commands.push(CommandId::back);
  if (ImGui::IsMouseClicked(4)) commands.push(CommandId::forward);
}

}  // namespace hbmscope::gui
