// The commands. Everything that the window answers is also printed here, for the servers that have no screen.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope::cli {

// What scripts can rely on.
inline constexpr int exit_ok = 0;
inline constexpr int exit_gate_failed = 1;  // --fail-if held; replay --check found a difference.
inline constexpr int exit_usage = 2;
inline constexpr int exit_unreadable = 3;  // A file that can't be read, or a result that can't be written.

// `open`, and hbmscope without a command: handed on to the window, which this folder does not know.
struct OpenRequest {
  std::vector<std::string> files;
  std::string baseline, beside, beside_at, beside_pin, lock, heap, view, select, where, find, from, at, pin, color,
      rows, theme, screenshot;
  std::vector<std::string> what_if, beside_what_if;  // KEY=VALUE: what of a TPU workload is other than it is written.
  std::string beside_heap;
  std::string tiles;                     // Of this layout a picture, and nothing else.
  std::vector<std::string> demo;         // The words of a demo's job: the window starts it, and shows it live.
  std::vector<std::string> demo_beside;  // Those of a second one, shown side by side with it.
  double scale = 0;
  int width = 1600, height = 1000;
  std::uint64_t live_memory_max = std::uint64_t{4} << 30;  // Of a running job's events; 0: no limit.
  bool live_from_now = false;                              // What happened before is not fetched.
};
using OpenWindow = std::function<Result<int>(const OpenRequest&)>;  // Empty: built without a window.

int run(int argc, char** argv, const OpenWindow& open_window);

}  // namespace hbmscope::cli
