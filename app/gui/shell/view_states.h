// What all parts of the window keep for themselves; it lives as long as the window.
#pragma once

#include <array>
#include <bitset>
#include <memory>
#include <set>
#include <utility>

#include "app/gui/look/side_by_side.h"
#include "app/gui/shell/file_dialog.h"
#include "app/gui/shell/filter_line.h"
#include "app/gui/shell/help_window.h"
#include "app/gui/shell/palette_window.h"
#include "app/gui/shell/shell.h"
#include "app/gui/views/drawn_view.h"
#include "app/gui/views/inspector/draw_inspector.h"
#include "app/gui/views/jobs/draw_jobs.h"
#include "app/gui/views/tile_picture/draw_tile_picture.h"

namespace hbmscope::gui {

struct ViewStates {
  ViewStates();

  std::array<std::array<std::unique_ptr<DrawnView>, view_count>, 2> drawn;  // By side and kind; [1]: side by side only.
  SideFocus side_focus;
  TilePictureState tiles;  // Alone in the window.
  InspectorState inspector;
  FilterLineState filter;
  PaletteState palette;
  JobsWindowState jobs;
  HelpState help;
  FileDialogState dialog;

  // The docks.
  std::uint64_t layout_seen = 0;                          // The last Reset layout that was applied,
  bool layout_made = false;                               // or the first layout.
  std::uint64_t view_seen = 0;                            // The last command that brought a view to the front.
  std::optional<bool> of_trace;                           // What the layout was made for.
  std::bitset<view_count> views_there;                    // By kind: those that existed in the frame before.
  std::bitset<view_count> came_forward;                   // Those that came to the front when they appeared.
  std::set<std::pair<SourceId, ViewKind>> came_for_file;  // Those that came to the front once for the file.
  int reorder = 0;   // Frames until tabs are put in order, since one that appears goes to the end.
  int settling = 0;  // Frames until focus is a person's doing again.
  std::optional<ViewKind> focused;
  std::uint64_t clipboard_seen = 0;
  std::array<std::uint32_t, 2> asked{};  // In the frame before.
};

}  // namespace hbmscope::gui
