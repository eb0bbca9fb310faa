#include "app/gui/core/app_state.h"
#include "app/gui/core/command_line.h"
#include "app/gui/core/source_facts.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

constinit const ViewRow flame_row{
    .kind = ViewKind::flame,
    .key = "flame",
    .title = "Flame graph",
    .command = "Show flame graph",
    .help = "Stacks from the outermost frame down.",
    .shortcut = "Ctrl+2",
    .asks = {Question::flame, Question::search},
    .why_missing = why_no_blocks,
    .is_side_by_side = true,
    .has_one_line_head = true,
    .in_profile = DockPlace::right,
    .report_command =
        [](const AppState& state) {
          CommandLine line("hbmscope export");
          line.add(state.source()->path);
          line.add_option("--to", "svg");
          line.add_filters(state.position().request);
          return line.take();
        },
};

}  // namespace hbmscope::gui
