#include "app/gui/core/source_facts.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

constinit const ViewRow timeline_row{
    .kind = ViewKind::timeline,
    .key = "timeline",
    .title = "Timeline",
    .command = "Show timeline",
    .help = "In use, pool size and largest free block over time.",
    .shortcut = "",
    .asks = {Question::timeline},
    .needs_addresses = true,
    .why_missing = why_no_history,
    .is_side_by_side = true,
    .in_trace = DockPlace::middle,
    .opens_first = 9,
};

}  // namespace hbmscope::gui
