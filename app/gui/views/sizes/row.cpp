#include "app/gui/core/app_state.h"
#include "app/gui/core/command_line.h"
#include "app/gui/core/source_facts.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

constinit const ViewRow sizes_row{
    .kind = ViewKind::sizes,
    .key = "sizes",
    .title = "Sizes",
    .command = "Show sizes",
    .help = "Sizes, gaps, ages and lifetimes as histograms.",
    .shortcut = "",
    .asks = {Question::sizes},
    .needs_addresses = true,
    .why_missing = why_no_blocks,
    .add_report_options = [](const AppState&, CommandLine& line) { line.add_flag("--metrics", true); },
};

}  // namespace hbmscope::gui
