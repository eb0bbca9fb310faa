#include "app/gui/views/tile_picture/tile_picture.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace hbmscope::gui {
namespace {

// Large enough to see a tile, and small enough for a panel.
constexpr double tile_px_least = 6, tile_width_px_most = 192, tile_height_px_most = 64;

std::uint64_t tiles_in(int pixels, double unit) {
  return static_cast<std::uint64_t>(std::max(1.0, pixels / (tile_px_least * unit)));
}

// The size of a tile in whole pixels; each value also gets a whole number of pixels if there is room.
int tile_side(int room, std::uint64_t tiles, double most, std::uint64_t values) {
  const auto side = static_cast<std::uint64_t>(std::max(1.0, std::min(room / static_cast<double>(tiles), most)));
  return static_cast<int>(side >= values ? side / values * values : side);
}

// The pixel at which the values end, if `pixels` pixels show `all` values.
int data_pixels(int pixels, std::uint64_t values, std::uint64_t all) {
  if (values >= all) return pixels;
  const double share = static_cast<double>(values) / static_cast<double>(all);
  return std::clamp(static_cast<int>(std::lround(pixels * share)), 1, std::max(1, pixels - 1));
}

}  // namespace

TileInk tile_ink(Theme theme) {
  const auto pixel = [&](Role role) { return pixel_from_color(color_of(theme, role)); };
  // Lines are drawn inside data or padding (dark in data, light in padding), so that areas add up.
  const auto line = [&](Role role, Role of, double share) {
    return pixel_from_color(mix(color_of(theme, role), color_of(theme, of), share));
  };
  return {pixel(Role::parameters), line(Role::free, Role::parameters, 0.4), pixel(Role::rounding), pixel(Role::free),
          line(Role::rounding, Role::text, 0.6)};
}

TilePicture draw_tile_picture(const TileGrid& grid, int width_most, int height_most, double unit, Theme theme) {
  TilePicture picture;
  // An array without tiles has neither lines nor padding.
  const std::uint64_t tile_rows = grid.is_tiled() ? grid.tile_rows : grid.padded_rows;
  const std::uint64_t tile_columns = grid.is_tiled() ? grid.tile_columns : grid.padded_columns;
  picture.part = grid.is_tiled() ? last_tiles(grid, tiles_in(height_most, unit), tiles_in(width_most, unit))
                                 : last_tiles(grid, grid.tiles_down(), grid.tiles_across());
  const TilePart& part = picture.part;
  const std::uint64_t down = grid.is_tiled() ? part.down : 1, across = grid.is_tiled() ? part.across : 1;
  const int tile_width = tile_side(width_most, across, tile_width_px_most * unit, tile_columns);
  const int tile_height = tile_side(height_most, down, tile_height_px_most * unit, tile_rows);
  picture.width = tile_width * static_cast<int>(across);
  picture.height = tile_height * static_cast<int>(down);
  picture.values_across = static_cast<double>(tile_columns) / tile_width;
  picture.values_down = static_cast<double>(tile_rows) / tile_height;
  const int data_width =
      data_pixels(picture.width, grid.columns - part.first_column * grid.tile_columns, across * tile_columns);
  const int data_height = data_pixels(picture.height, grid.rows - part.first_row * grid.tile_rows, down * tile_rows);
  const TileInk ink = tile_ink(theme);
  const int step = std::max(5, static_cast<int>(std::lround(5 * unit))), gap = std::max(2, step * 2 / 5);
  const int line = std::max(1, static_cast<int>(unit));
  picture.pixels.resize(static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height));
  auto pixel = picture.pixels.begin();
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x, ++pixel) {
      const bool is_data = x < data_width && y < data_height;
      const bool is_line = (x % tile_width < line && x >= tile_width) || (y % tile_height < line && y >= tile_height);
      if (is_line)
        *pixel = is_data ? ink.data_line : ink.padding_line;
      else if (is_data)
        *pixel = ink.data;
      else
        *pixel = (x + y) % step < gap ? ink.padding_gap : ink.padding;
    }
  return picture;
}

std::string text_from_scale(const TilePicture& picture) {
  const std::string across = fmt::format("{:.3g}", picture.values_across);
  return fmt::format("1 px is {} {} across and {:.3g} down", across, across == "1" ? "value" : "values",
                     picture.values_down);
}

}  // namespace hbmscope::gui
