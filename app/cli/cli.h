// What all commands share. Everything that the window shows can also be printed, for servers without a screen.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope::cli {

// What scripts can rely on.
inline constexpr int exit_ok = 0;
inline constexpr int exit_gate_failed = 1;  // --fail-if was true, or replay --check found a difference.
inline constexpr int exit_usage = 2;
inline constexpr int exit_unreadable = 3;  // A file that can't be read, or a result that can't be written.

// `open`, and hbmscope without a command: passed to the window, which this folder does not know.
struct OpenRequest {
  std::vector<std::string> files;
  std::string baseline, beside, beside_at, beside_pin, lock, heap, view, select, where, find, from, at, pin, color,
      rows, theme, screenshot;
  std::vector<std::string> what_if, beside_what_if;  // KEY=VALUE: changes to a TPU workload.
  std::string beside_heap;
  std::string tiles;                     // Only draw the tiles of this layout.
  std::vector<std::string> demo;         // The command line of a demo's job, which the window starts and shows live.
  std::vector<std::string> demo_beside;  // That of a second one, shown side by side.
  double scale = 0;
  int width = 1600, height = 1000;
  std::uint64_t live_memory_max = std::uint64_t{4} << 30;  // Of a running job's events; 0: no limit.
  bool live_from_now = false;                              // What happened before is skipped.
};
// The window, which stands above the commands; empty where the program was built without one.
struct OpenWindow {
  std::function<Result<int>(const OpenRequest&)> open;
  std::string views = {};                   // "heap-map, timeline, ...": what --view takes.
  std::vector<std::string> colorings = {};  // What --color takes.

  explicit operator bool() const { return open != nullptr; }
  Result<int> operator()(const OpenRequest& request) const { return open(request); }
};

}  // namespace hbmscope::cli
