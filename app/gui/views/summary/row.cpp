#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

constinit const ViewRow summary_row{
    .kind = ViewKind::summary,
    .key = "summary",
    .title = "Summary",
    .command = "Show summary",
    .help = "What this file is, and its totals.",
    .shortcut = "Ctrl+1",
    .asks = {Question::summary},
    .in_profile = DockPlace::centre,
    .opens_first = 1,
};

}  // namespace hbmscope::gui
