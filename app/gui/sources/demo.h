// The demo: a program that the window starts by its own command (hbmscope demo), watches like any other, and can hold,
// step, and start anew with other settings.
#pragma once

#include <string>
#include <vector>

namespace hbmscope::gui {

// What a person chooses. Other options of the command are passed on unchanged.
struct DemoSettings {
  std::string workload = "training";
  std::string device_bytes = "24GiB";
  std::string fraction;      // XLA_CLIENT_MEM_FRACTION; empty: not set, which is .75.
  std::string allocator;     // XLA_PYTHON_CLIENT_ALLOCATOR; empty: not set, which is XLA's BFC.
  bool preallocates = true;  // XLA_PYTHON_CLIENT_PREALLOCATE; not set where true.
  double speed = 1;
  std::vector<std::string> others;

  friend bool operator==(const DemoSettings&, const DemoSettings&) = default;
};
DemoSettings demo_settings_from(const std::vector<std::string>& words);
std::vector<std::string> words_of(const DemoSettings& settings);
// The command that runs it without a window, until it is ended.
std::vector<std::string> command_of(const DemoSettings& settings);

// What changed, and when JAX reads it: for the line that says why the program was started anew.
std::string text_from_change(const DemoSettings& before, const DemoSettings& now);

// One program with the settings that it was started with.
struct DemoRun {
  DemoSettings settings;
  std::string change;  // What was changed last; empty: nothing yet.
  std::string path;    // Of its source: "live:4711".
};
struct DemoState {
  std::vector<DemoRun> runs;  // One; or two of the same workload side by side, A and B, under their own settings.
  bool is_paused = false;
};

// The other program does the same: workload, device, speed and all that is no variable are those of `of`.
DemoSettings with_program_of(const DemoSettings& of, DemoSettings settings);
// A configuration worth comparing with this one.
DemoSettings other_than(const DemoSettings& settings);

}  // namespace hbmscope::gui
