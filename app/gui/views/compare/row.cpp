#include "app/gui/core/app_state.h"
#include "app/gui/core/command_line.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

constinit const ViewRow compare_row{
    .kind = ViewKind::compare,
    .key = "compare",
    .title = "Compare",
    .command = "Show compare",
    .help = "What changed since the pinned time.",
    .shortcut = "",
    .asks = {Question::compare},
    .needs_addresses = true,
    .why_missing = [](const AppState& state) -> std::string_view {
      return state.position().pin.empty() ? "No time is pinned (B)." : "";
    },
    .how_to_get = "--pin pins one.",
    .report_command =
        [](const AppState& state) {
          CommandLine line("hbmscope diff");
          line.add(state.source()->path);
          line.add_option("--from", state.position().pin.text());
          line.add_option("--at", state.position().at.empty() ? "end" : state.position().at.text());
          return line.take();
        },
};

}  // namespace hbmscope::gui
