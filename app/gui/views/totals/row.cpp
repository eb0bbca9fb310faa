#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/command_line.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {
namespace {

std::string totals_report_command(const AppState& state) {
  CommandLine line("hbmscope report");
  for (const Source& source : state.sources)
    if (source.state == AnswerState::ready)
      for (const std::string& file : source.files()) line.add(file);
  line.add_filters(state.position().request);
  return line.take();
}

}  // namespace

constinit const ViewRow totals_row{
    .kind = ViewKind::totals,
    .key = "totals",
    .title = "Totals",
    .command = "Show totals over files",
    .help = "One point a file.",
    .shortcut = "Ctrl+7",
    .asks = {Question::series},
    .why_missing = [](const AppState& state) -> std::string_view {
      return state.ready_sources() < 2 ? "Only one file is open." : "";
    },
    .how_to_get = "Open several files to see them as a series.",
    .in_profile = DockPlace::centre,
    .report_command = totals_report_command,
};

}  // namespace hbmscope::gui
