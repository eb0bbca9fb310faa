#include "app/gui/views/tile_picture/draw_tile_picture.h"

#include <algorithm>
#include <cmath>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/look/drawing.h"

namespace hbmscope::gui {
namespace {

void draw_swatch(const Look& look, bool is_padding) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float side = look.px(12), top = at.y + (ImGui::GetTextLineHeight() - side) / 2;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 from{at.x, top}, to{at.x + side, top + side};
  draw.AddRectFilled(from, to, look.role(is_padding ? Role::rounding : Role::parameters));
  if (is_padding) draw_hatch(draw, look, from, to, look.role(Role::free));
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + side + look.px(6));
}

void draw_legend(const Look& look, const TileGrid& grid) {
  const std::int64_t all = signed_from(grid.bytes), padding = signed_from(grid.padding_bytes());
  const auto entry = [&](const char* name, std::int64_t bytes, bool is_padding) {
    draw_swatch(look, is_padding);
    text(std::string(name) + " " + text_from_bytes(bytes) + " (" + text_from_share(bytes, all) + ")");
    tooltip(exact_text_from_bytes(bytes) + " of " + exact_text_from_bytes(all));
  };
  entry("data", all - padding, false);
  const float room = ImGui::GetContentRegionAvail().x - ImGui::GetItemRectSize().x;
  if (room > ImGui::GetFontSize() * 22) ImGui::SameLine(0, look.px(18));
  entry("padding", padding, true);
}

void make_picture(const AppState& state, TilePictureState& tiles, const TileGrid& grid, int width, int height) {
  const Look look(state);
  const std::string of = grid.layout + " " + std::to_string(width) + "x" + std::to_string(height) + " " +
                         std::string(text_from_theme(look.theme)) + " " + std::to_string(look.unit);
  if (tiles.of == of) return;
  tiles.of = of;
  tiles.picture = draw_tile_picture(grid, width, height, look.unit, look.theme);
  tiles.texture.set(tiles.picture.pixels, tiles.picture.width, tiles.picture.height);
}

}  // namespace

void draw_tiles(const AppState& state, TilePictureState& tiles, const TileGrid& grid, float height_most) {
  const Look look(state);
  wrapped_text(grid.layout);
  wrapped_text(text_from_tiles(grid), true);
  // Steps of 16 px avoid redrawing the picture for every pixel of a drag in a narrow panel.
  const float room = ImGui::GetContentRegionAvail().x;
  const int width = std::max(16, static_cast<int>(room) / 16 * 16), height = static_cast<int>(height_most);
  make_picture(state, tiles, grid, width, height);
  ImVec2 at = ImGui::GetCursorScreenPos();
  at = {std::floor(at.x), std::floor(at.y)};
  const auto picture_width = static_cast<float>(tiles.picture.width);
  const auto picture_height = static_cast<float>(tiles.picture.height);
  ImGui::InvisibleButton("tiles", {std::max(1.0F, picture_width), std::max(1.0F, picture_height)});
  tooltip(text_from_padding(grid) + "\n" + text_from_scale(tiles.picture));
  tiles.texture.draw(*ImGui::GetWindowDrawList(), at);
  draw_legend(look, grid);
  std::string scale = text_from_scale(tiles.picture);
  if (const std::string part = text_from_part(grid, tiles.picture.part); !part.empty()) scale = part + "; " + scale;
  wrapped_text(scale, true);
}

void draw_tiles_alone(const AppState& state, TilePictureState& tiles, CommandQueue& commands) {
  const auto grid = compute_tile_grid(state.window.tiles);
  if (ImGui::BeginChild("tiles alone", {0, 0}, ImGuiChildFlags_AlwaysUseWindowPadding)) {
    if (!state.sources.empty() && link("Show all views")) commands.push(command::show_tiles, std::string());
    if (grid)
      draw_tiles(state, tiles, *grid, std::max(16.0F, ImGui::GetContentRegionAvail().y - ImGui::GetFontSize() * 8));
    else
      wrapped_text("This is not an array with a layout, or it is empty: " + state.window.tiles);
  }
  ImGui::EndChild();
}

}  // namespace hbmscope::gui
