#include "app/gui/views/totals/row.h"

#include "app/gui/core/app_state.h"
#include "app/gui/core/command_line.h"

namespace hbmscope::gui {

std::string totals_report_command(const AppState& state) {
  CommandLine line("hbmscope report");
  for (const Source& source : state.sources)
    if (source.state == AnswerState::ready)
      for (const std::string& file : source.files()) line.add(file);
  line.add_filters(state.position().request);
  return line.take();
}

}  // namespace hbmscope::gui
