// The programs of the demo: starts, pauses and steps them, and restarts them with other settings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/core/open_sources.h"
#include "app/gui/core/side_by_side.h"
#include "collector/view/command_lines.h"

namespace hbmscope::gui {

class DemoRuns {
 public:
  DemoRuns(AppState& state, SideBySide& sides, OpenSources& sources);

  void start_demo(std::vector<DemoSettings> settings);
  void end_demo();
  std::vector<DemoSettings> settings_of_runs() const;  // Per run; the default settings if nothing runs.
  void send(const std::string& line);                  // To all runs.

 private:
  AppState& state_;
  SideBySide& sides_;
  OpenSources& sources_;
  std::vector<std::unique_ptr<view::StartedCommand>> demos_;  // Per run.
};

}  // namespace hbmscope::gui
