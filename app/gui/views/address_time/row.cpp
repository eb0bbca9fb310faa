#include "app/gui/core/source_facts.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

constinit const ViewRow address_time_row{
    .kind = ViewKind::address_time,
    .key = "address-time",
    .title = "Address x time",
    .command = "Show address x time",
    .help = "Every block as a box of its addresses and its lifetime.",
    .shortcut = "",
    .asks = {Question::timeline, Question::address_time},
    .needs_addresses = true,
    .why_missing = why_no_history,
    .is_side_by_side = true,
    .in_trace = DockPlace::centre,
};

}  // namespace hbmscope::gui
