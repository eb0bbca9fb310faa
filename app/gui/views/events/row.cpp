#include "app/gui/core/source_facts.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

constinit const ViewRow events_row{
    .kind = ViewKind::events,
    .key = "events",
    .title = "Events",
    .command = "Show events",
    .help = "The events around the current time, one a row.",
    .shortcut = "",
    .asks = {Question::events},
    .needs_addresses = true,
    .why_missing = why_no_history,
};

}  // namespace hbmscope::gui
