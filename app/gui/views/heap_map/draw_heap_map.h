// All blocks and free blocks of a heap by address: what is in use, how the rest is fragmented, and where the largest
// free block is.
#pragma once

#include <cstdint>
#include <memory>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/core/heap_raster.h"
#include "app/gui/look/map_texture.h"

namespace hbmscope::gui {

struct HeapMapState {
  HeapMapView view;
  MapLayout layout = MapLayout::wrapped;
  bool is_automatic = true;             // The layout is; then zooming leads from rows into a strip and back.
  FitBeside beside;                     // The other side's map.
  int strip_left = 0, strip_width = 0;  // Where a strip would be, from the left edge of the rows.
  int rows_width = 0, rows_height = 0;  // What rows could take.
  AddressRange to_strip;                // Zooming in rows leads there.
  bool is_longer = false;               // By region, there may be more rows than fit.
  AddressRange strip_shown;  // The position's addresses that the view of a strip was made of, or that were made of it.
  // The address at which the wheel zooms while the pointer rests, and the view after the last zoom there.
  struct Anchor {
    int x = 0, y = 0;
    std::optional<std::uint64_t> address;
    HeapMapView view;
  } anchor;
  float dragged_y = 0;  // Pending drag of less than a row.
  double grabbed = 0;   // From the middle of the minimap's frame to the pointer that drags it; 1: the whole heap.
  bool is_fit = true;   // The whole heap is shown. False: the visible addresses stay when the time changes.
  int width = 0, height = 0, minimap_width = 0;
  std::shared_ptr<const HeapMapAnswer> shown;  // The texture shows this answer with
  HeapMapView drawn;                           // this view,
  Theme theme = Theme::dark;                   // these colours
  std::shared_ptr<const BlocksAnswer> found;   // and these hits (null: no search);
  std::optional<Shade> lit;                    // only this colour of the legend is highlighted.
  std::vector<AddressRange> lit_ranges;        // The addresses of its blocks.
  HeapRaster raster;
  MapTexture texture;
  std::uint64_t zoom_seen = 0, copy_seen = 0, fit_selection_seen = 0;
  std::uint64_t menu_at = 0;              // The block whose context menu is open.
  std::optional<std::uint64_t> followed;  // The selection that was last scrolled into view.
  std::vector<float> minimap;
  std::shared_ptr<const HeapMapAnswer> minimap_of;
  double minimap_scale = 0;
};

void draw_heap_map(const AppState& state, HeapMapState& map, CommandQueue& commands);

}  // namespace hbmscope::gui
