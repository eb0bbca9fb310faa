// State that parts of the window keep for themselves. It lives as long as the window.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include "app/gui/look/side_by_side.h"
#include "app/gui/shell/file_dialog.h"
#include "app/gui/shell/filter_line.h"
#include "app/gui/shell/help_window.h"
#include "app/gui/shell/layout_memory.h"
#include "app/gui/shell/palette_window.h"
#include "app/gui/shell/settings_window.h"
#include "app/gui/shell/shell.h"
#include "app/gui/views/drawn_view.h"
#include "app/gui/views/inspector/draw_inspector.h"
#include "app/gui/views/jobs/draw_jobs.h"
#include "app/gui/views/sources_panel/draw_bookmarks.h"
#include "app/gui/views/tile_picture/draw_tile_picture.h"

namespace hbmscope::gui {

struct ViewStates {
  ViewStates();

  // By side and kind; [1] only for side-by-side views.
  std::array<std::array<std::unique_ptr<DrawnView>, view_count>, 2> drawn;
  SideFocus side_focus;
  TilePictureState tiles;  // When it fills the window.
  InspectorState inspector;
  BookmarksState bookmarks;
  FilterLineState filter;
  PaletteState palette;
  JobsWindowState jobs;
  JobListState first_jobs;  // Of the first page.
  HelpState help;
  SettingsWindowState settings;
  FileDialogState dialog;

  // Docking.
  std::uint64_t layout_seen = 0;  // The last applied Reset layout.
  std::uint64_t file_seen = 0;    // The last file that was opened.
  bool layout_made = false;       // The first layout was made.
  bool keeps_tabs = false;        // While settling: the layout says which tabs are in front.
  LayoutMemory layouts;
  std::uint64_t view_seen = 0;                            // The last applied command that brings a view to the front.
  std::bitset<view_count> views_there;                    // By kind: views that existed in the previous frame.
  std::bitset<view_count> came_forward;                   // Views that came to the front when they appeared.
  std::set<std::pair<SourceId, ViewKind>> came_for_file;  // Views that came to the front once for the file.
  bool shows_all_devices = false;                         // In the previous frame.
  int reorder = 0;              // Frames until tabs are put in order, since a new tab appears at the end.
  int settling = 0;             // Frames until a focus change counts as the user's.
  int frames_since_input = 0;   // Since a key or a mouse button was pressed.
  bool inspector_open = false;  // In the previous frame.
  int moving_frames = 0;        // Frames until docks have changed their sizes.
  std::optional<ViewKind> focused;
  std::uint64_t clipboard_seen = 0, paste_seen = 0;
  std::array<QuestionSet, 2> frames_requested{};  // In the previous frame.
};

}  // namespace hbmscope::gui
