// The interface between the program and the window; everything that uses GLFW or OpenGL is behind it.
#pragma once

#include <string>
#include <vector>

#include "analysis/model/result.h"
#include "app/gui/sources/live_options.h"

namespace hbmscope::gui {

struct WindowRequest {
  std::vector<std::string> files;    // Opened at start. Empty means the first-launch screen.
  bool as_one_job = false;           // They are shown as one job.
  std::string baseline;              // Not empty: also opened, and compared with (open A --baseline B).
  std::string other_side;            // Not empty: shown side by side with it.
  std::string other_heap;            // By name, like `heap`.
  std::string other_at;              // Its time. Empty means its first failure, or its peak.
  std::string other_pin;             // The time that it is compared with. Empty if there is none.
  std::vector<std::string> what_if;  // "KEY=VALUE": changes of the last file, if it is a TPU workload.
  std::vector<std::string> other_what_if;
  std::string tiles;                     // Not empty: shows only the tile picture of this layout.
  std::string lock;                      // Locks both sides: "time", "requests". Empty if unlocked.
  std::string heap;                      // By its name. Empty means the one with the failure, or the highest peak.
  bool all_devices = false;              // Tables and graphs are about all devices.
  std::string view;                      // "flame": the tab to bring to the front.
  std::string select;                    // The function to select in all views.
  std::string where;                     // The filter.
  std::string from;                      // Selects the range from this time to `at`. Empty if there is none.
  std::string find;                      // Blocks to highlight.
  std::string pin;                       // The pinned time. Empty if there is none.
  std::string rows;                      // Heap map: "address", "region", "strip".
  std::string addresses;                 // Shown in the strip and in Address x time. Empty means all.
  std::string color;                     // Heap map: "code", "size", ...
  std::string at;                        // The time to show; profiles have only one.
  std::string theme;                     // "dark", "light". Empty means from the settings.
  double scale = 0;                      // Font and spacing scale. 0 means the display's.
  std::vector<std::string> demo;         // Not empty: starts the demo with these arguments.
  std::vector<std::string> second_demo;  // Not empty: starts a second one side by side, with these.
  std::string screenshot;                // Not empty: renders to this PNG without a display and returns.
  int width = 1600, height = 1000;       // In pixels.
  LiveOptions live;                      // For running jobs.
  std::string about;                     // The text of --version.
};

// Returns when the window is closed or the screenshot is written. Errors: no display, no OpenGL 3.
Result<int> run_window(const WindowRequest& request);

// The values that `view` and `color` of a request accept.
std::string view_names();  // "heap-map, timeline, ..."
std::vector<std::string> coloring_names();

// Whether there is a display for a window.
bool has_display();

}  // namespace hbmscope::gui
