#include "app/gui/core/app_state.h"
#include "app/gui/core/command_line.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

constinit const ViewRow range_row{
    .kind = ViewKind::range,
    .key = "range",
    .title = "Range",
    .command = "Show range",
    .help = "What was allocated, released and kept in the selected range of the timeline.",
    .shortcut = "",
    .asks = {Question::range},
    .needs_addresses = true,
    .why_missing = [](const AppState& state) -> std::string_view {
      return state.position().range.empty() ? "No range of the timeline is selected." : "";
    },
    .how_to_get = "--from and --at select one.",
    .comes_forward = ComesForward::when_it_appears,
    .report_command =
        [](const AppState& state) {
          CommandLine line("hbmscope report");
          line.add(state.source()->path);
          line.add_option("--from", state.position().range.from.text());
          line.add_option("--at", state.position().range.to.text());
          return line.take();
        },
};

}  // namespace hbmscope::gui
