#include "app/gui/look/theme.h"

#include <implot.h>

namespace hbmscope::gui {
namespace {

constexpr float text_px = 15;  // At 100 %.

float last_scale = 1;  // Set by apply_theme; it is global like ImGui's style.

ImVec4 vec_from(Color color, float opacity = 1) {
  return {static_cast<float>(color.red) / 255.0F, static_cast<float>(color.green) / 255.0F,
          static_cast<float>(color.blue) / 255.0F, opacity};
}

ImFont* font_at(int index) {
  const auto& fonts = ImGui::GetIO().Fonts->Fonts;
  return fonts.Size > index ? fonts[index] : nullptr;  // nullptr: ImGui's current font.
}

void set_sizes(ImGuiStyle& style) {
  style.WindowPadding = {10, 8};
  style.WindowMinSize = {140, 64};  // Also of docks: a splitter at the edge leaves a view that can be dragged back.
  style.FramePadding = {8, 4};
  style.ItemSpacing = {8, 6};
  style.ItemInnerSpacing = {6, 4};
  style.CellPadding = {8, 3};
  style.IndentSpacing = 18;
  style.ScrollbarSize = 13;
  style.GrabMinSize = 24;
  style.WindowBorderSize = 1;
  style.PopupBorderSize = 1;
  style.FrameBorderSize = 1;
  style.TabBorderSize = 0;
  style.TabBarBorderSize = 1;
  style.TabBarOverlineSize = 2;
  style.WindowRounding = 0;
  style.FrameRounding = 3;
  style.PopupRounding = 4;
  style.ScrollbarRounding = 3;
  style.GrabRounding = 3;
  style.TabRounding = 3;
  style.DockingSeparatorSize = 2;
  style.SeparatorTextBorderSize = 1;
  style.SeparatorTextPadding = {0, 4};
  style.HoverDelayNormal = 0.15F;
  style.HoverStationaryDelay = 0.0F;
  style.WindowMenuButtonPosition = ImGuiDir_None;
}

void set_colors(ImGuiStyle& style, Theme theme) {
  const Color panel = color_of(theme, Role::panel), text = color_of(theme, Role::text);
  const Color raised = color_of(theme, Role::no_memory), deep = color_of(theme, Role::free);
  const Color accent = color_of(theme, Role::parameters);
  const auto set = [&](ImGuiCol index, Color color, float opacity = 1) {
    style.Colors[index] = vec_from(color, opacity);
  };
  const Color hovered = mix(panel, accent, 0.28), active = mix(panel, accent, 0.45);
  set(ImGuiCol_Text, text);
  set(ImGuiCol_TextDisabled, color_of(theme, Role::dim_text));
  set(ImGuiCol_TextLink, mix(text, accent, 0.6));
  set(ImGuiCol_WindowBg, panel);
  set(ImGuiCol_ChildBg, panel, 0);
  set(ImGuiCol_PopupBg, mix(panel, raised, 0.5));
  set(ImGuiCol_Border, mix(panel, text, 0.16));
  set(ImGuiCol_BorderShadow, panel, 0);
  set(ImGuiCol_FrameBg, mix(panel, theme == Theme::dark ? deep : raised, theme == Theme::dark ? 0.8 : 0.6));
  set(ImGuiCol_FrameBgHovered, hovered);
  set(ImGuiCol_FrameBgActive, active);
  set(ImGuiCol_TitleBg, mix(panel, deep, 0.5));
  set(ImGuiCol_TitleBgActive, mix(panel, deep, 0.5));
  set(ImGuiCol_TitleBgCollapsed, mix(panel, deep, 0.5));
  set(ImGuiCol_MenuBarBg, mix(panel, raised, 0.4));
  set(ImGuiCol_ScrollbarBg, panel, 0);
  set(ImGuiCol_ScrollbarGrab, mix(panel, text, 0.25));
  set(ImGuiCol_ScrollbarGrabHovered, mix(panel, text, 0.4));
  set(ImGuiCol_ScrollbarGrabActive, mix(panel, text, 0.5));
  set(ImGuiCol_CheckMark, accent);
  set(ImGuiCol_CheckboxSelectedBg, mix(panel, accent, 0.2));
  set(ImGuiCol_UnsavedMarker, color_of(theme, Role::temporaries));
  set(ImGuiCol_InputTextCursor, text);
  set(ImGuiCol_TreeLines, mix(panel, text, 0.2));
  set(ImGuiCol_DragDropTarget, accent);
  set(ImGuiCol_SliderGrab, accent);
  set(ImGuiCol_SliderGrabActive, accent);
  set(ImGuiCol_Button, mix(panel, text, 0.12));
  set(ImGuiCol_ButtonHovered, hovered);
  set(ImGuiCol_ButtonActive, active);
  set(ImGuiCol_Header, mix(panel, accent, 0.3));
  set(ImGuiCol_HeaderHovered, mix(panel, accent, 0.18));
  set(ImGuiCol_HeaderActive, active);
  set(ImGuiCol_Separator, mix(panel, text, 0.16));
  set(ImGuiCol_SeparatorHovered, accent);
  set(ImGuiCol_SeparatorActive, accent);
  set(ImGuiCol_ResizeGrip, panel, 0);
  set(ImGuiCol_ResizeGripHovered, hovered);
  set(ImGuiCol_ResizeGripActive, active);
  set(ImGuiCol_Tab, mix(panel, deep, 0.5));
  set(ImGuiCol_TabHovered, hovered);
  set(ImGuiCol_TabSelected, panel);
  set(ImGuiCol_TabSelectedOverline, accent);
  set(ImGuiCol_TabDimmed, mix(panel, deep, 0.5));
  set(ImGuiCol_TabDimmedSelected, panel);
  set(ImGuiCol_TabDimmedSelectedOverline, mix(panel, text, 0.3));
  set(ImGuiCol_DockingPreview, accent, 0.5F);
  set(ImGuiCol_DockingEmptyBg, deep);
  set(ImGuiCol_TableHeaderBg, mix(panel, raised, 0.6));
  set(ImGuiCol_TableBorderStrong, mix(panel, text, 0.16));
  set(ImGuiCol_TableBorderLight, mix(panel, text, 0.1));
  set(ImGuiCol_TableRowBg, panel, 0);
  set(ImGuiCol_TableRowBgAlt, mix(panel, text, 0.5), 0.06F);
  set(ImGuiCol_TextSelectedBg, accent, 0.45F);
  set(ImGuiCol_NavCursor, mix(text, accent, 0.5));
  set(ImGuiCol_ModalWindowDimBg, deep, 0.5F);
}

void set_plot(Theme theme) {
  ImPlotStyle& plot = ImPlot::GetStyle();
  plot.Colors[ImPlotCol_FrameBg] = vec_from(color_of(theme, Role::panel), 0);
  plot.Colors[ImPlotCol_PlotBg] = vec_from(color_of(theme, Role::free));
  plot.Colors[ImPlotCol_PlotBorder] = vec_from(mix(color_of(theme, Role::panel), color_of(theme, Role::text), 0.2));
  plot.Colors[ImPlotCol_AxisGrid] = vec_from(color_of(theme, Role::text), 0.12F);
  plot.Colors[ImPlotCol_AxisText] = vec_from(color_of(theme, Role::dim_text));
  plot.PlotPadding = {8, 8};
}

}  // namespace

Look::Look(const AppState& state) : theme(state.settings.theme), unit(last_scale) {}

ImU32 Look::color(Color color, float opacity) const {
  return ImGui::ColorConvertFloat4ToU32(vec_from(color, opacity));
}
ImU32 Look::role(Role role, float opacity) const {
  return color(color_of(theme, role), opacity);
}
ImVec4 Look::vec(Role role, float opacity) const {
  return vec_from(color_of(theme, role), opacity);
}
ImU32 Look::bar() const {
  return color(
      mix(color_of(theme, Role::panel), color_of(theme, Role::parameters), theme == Theme::dark ? 0.42 : 0.38));
}

ImFont* bold_font() {
  return font_at(1);
}
ImFont* mono_font() {
  return font_at(2);
}

void apply_theme(const AppState& state, float scale) {
  ImGuiStyle& style = ImGui::GetStyle();
  const auto text_scale = static_cast<float>(state.settings.text_scale);
  style = ImGuiStyle();
  set_sizes(style);
  last_scale = scale * text_scale;
  style.ScaleAllSizes(last_scale);
  style.FontSizeBase = text_px;
  style.FontScaleMain = text_scale;
  style.FontScaleDpi = scale;
  set_colors(style, state.settings.theme);
  set_plot(state.settings.theme);
}

}  // namespace hbmscope::gui
