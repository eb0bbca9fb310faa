// Shared by all commands. Everything that the window shows can also be printed, for servers without a screen.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope::cli {

// Scripts can rely on these.
inline constexpr int exit_ok = 0;
inline constexpr int exit_gate_failed = 1;  // --fail-if was true, replay --check found a difference,
                                          // check an incomplete file, or a run of a sweep failed.
inline constexpr int exit_usage = 2;
inline constexpr int exit_unreadable = 3;  // A file can't be read, or a result can't be written.

// For `open` and for hbmscope without a command. It is passed to the window, which this folder does not know.
struct OpenRequest {
  std::vector<std::string> files;
  std::string baseline, other_side, other_at, other_pin, lock, heap, view, select, where, find, from, at, pin, color,
      rows, addresses, theme, screenshot;
  std::vector<std::string> what_if, other_what_if;  // KEY=VALUE: changes to a TPU workload.
  std::string other_heap;
  std::string tiles;                     // Draws only the tiles of this layout.
  std::vector<std::string> demo;         // The arguments of the demo's job, which the window starts and shows live.
  std::vector<std::string> second_demo;  // Those of a second job, shown side by side.
  double scale = 0;
  int width = 1600, height = 1000;
  bool as_one_job = false;                                 // The files.
  bool all_devices = false;                                // Tables and graphs are about all of them.
  std::uint64_t live_memory_max = std::uint64_t{4} << 30;  // Memory limit of a running job's events. 0 means no limit.
  bool live_from_now = false;                              // Skip earlier events.
};
// The window, which is in a higher layer than the commands; empty if the program was built without it.
struct OpenWindow {
  std::function<Result<int>(const OpenRequest&)> open;
  std::string views = {};                   // "heap-map, timeline, ...": the values of --view.
  std::vector<std::string> colorings = {};  // The values of --color.

  explicit operator bool() const { return open != nullptr; }
  Result<int> operator()(const OpenRequest& request) const { return open(request); }
};

}  // namespace hbmscope::cli
