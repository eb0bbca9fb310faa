// The door between the program and the window: everything that knows GLFW or OpenGL is behind it.
#pragma once

#include <string>
#include <vector>

#include "analysis/model/result.h"
#include "app/gui/sources/live_options.h"

namespace hbmscope::gui {

struct WindowRequest {
  std::vector<std::string> files;    // Opened at start; none: the first-launch screen.
  std::string baseline;              // Not empty: opened too and compared with (open A --baseline B).
  std::string beside;                // Not empty: shown side by side with it.
  std::string beside_heap;           // By its name, as `heap`.
  std::string beside_at;             // Its time; empty: its first failure, or its peak.
  std::string beside_pin;            // The time that it is compared with.
  std::vector<std::string> what_if;  // "KEY=VALUE": changes of the last file, a TPU workload.
  std::vector<std::string> beside_what_if;
  std::string tiles;                     // Not empty: shows only the picture of the tiles of this layout.
  std::string lock;                      // Locks both sides: "time", "requests"; empty: unlocked.
  std::string heap;                      // By its name; empty: the one with the failure, or the highest peak.
  std::string view;                      // "flame": that tab is in front.
  std::string select;                    // A function's name, selected in all views.
  std::string where;                     // The filter line's first content.
  std::string from;                      // The time from here to `at` is selected; empty: none is.
  std::string find;                      // Blocks to highlight.
  std::string pin;                       // The pinned time; empty: none.
  std::string rows;                      // Of the heap map: "address", "region".
  std::string color;                     // Of the heap map: "code", "size", ...
  std::string at;                        // The time to show; a profile has only one.
  std::string theme;                     // "dark", "light"; empty: as the settings say.
  double scale = 0;                      // Font and spacing scale; 0: the display's.
  std::vector<std::string> demo;         // Not empty: the demo is started with these words of its command.
  std::vector<std::string> demo_beside;  // Not empty: and a second one side by side, with these.
  std::string screenshot;                // Not empty: render with no display to this PNG and return.
  int width = 1600, height = 1000;       // In pixels.
  LiveOptions live;                      // Of running jobs.
};

// Returns when the window is closed (or the screenshot written). Errors: no display, no OpenGL 3.
Result<int> run_window(const WindowRequest& request);

// What `view` and `color` of a request take.
std::string view_names();  // "heap-map, timeline, ..."
std::vector<std::string> coloring_names();

// Is there a display to open a window on?
bool has_display();

}  // namespace hbmscope::gui
