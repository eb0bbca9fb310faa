// The demo's programs: started, held, stepped, and started anew with other settings.
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

  bool apply(const Command& command);  // False: it is not about the demo.
  void end_demo();

 private:
  void start_demo(std::vector<DemoSettings> settings);
  std::vector<DemoSettings> settings_of_runs() const;  // Of each run; the first ones where none runs.
  void send(const std::string& line);

  AppState& state_;
  SideBySide& sides_;
  OpenSources& sources_;
  std::vector<std::unique_ptr<view::StartedCommand>> demos_;  // By run.
};

}  // namespace hbmscope::gui
