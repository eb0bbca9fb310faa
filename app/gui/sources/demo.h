// The demo: a program that the window starts with its own command (hbmscope demo), watches like any other job, and can
// pause, step and restart with other settings.
#pragma once

#include <string>
#include <vector>

namespace hbmscope::gui {

// The user's choices. Other options of the command are passed on unchanged.
struct DemoSettings {
  std::string workload = "training";
  std::string device_bytes = "24GiB";
  std::string fraction;      // XLA_CLIENT_MEM_FRACTION. Empty if it isn't set, which means .75.
  std::string allocator;     // XLA_PYTHON_CLIENT_ALLOCATOR. Empty if it isn't set, which means XLA's BFC.
  bool preallocates = true;  // XLA_PYTHON_CLIENT_PREALLOCATE; not set if true.
  double speed = 1;
  std::vector<std::string> others;

  friend bool operator==(const DemoSettings&, const DemoSettings&) = default;
};
DemoSettings demo_settings_from(const std::vector<std::string>& words);
std::vector<std::string> words_of(const DemoSettings& settings);
// The command that runs the demo without a window until it is stopped.
std::vector<std::string> command_of(const DemoSettings& settings);

// "BFC (default)", "platform", "BFC (default), fraction .5": what tells two runs of the demo apart.
std::string name_of(const DemoSettings& settings);

// What changed, and when JAX reads it. The window shows it as the reason for a restart.
std::string text_from_change(const DemoSettings& before, const DemoSettings& now);

// One program and the settings that it was started with.
struct DemoRun {
  DemoSettings settings;
  std::string change;  // The last change. Empty if there is none yet.
  std::string path;    // Path of its source: "live:4711".
};
struct DemoState {
  std::vector<DemoRun> runs;  // One, or two with the same workload side by side, A and B, each with its own settings.
  bool is_paused = false;
};

// `settings` with the program of `of`: its workload, device, speed and everything that is not an environment variable.
DemoSettings with_program_of(const DemoSettings& of, DemoSettings settings);
// Another configuration that is worth comparing with this one.
DemoSettings other_than(const DemoSettings& settings);

}  // namespace hbmscope::gui
