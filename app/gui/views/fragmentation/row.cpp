#include "app/gui/core/source_facts.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

constinit const ViewRow fragmentation_row{
    .kind = ViewKind::fragmentation,
    .key = "fragmentation",
    .title = "Fragmentation",
    .command = "Show fragmentation",
    .help = "How much is free, in how many blocks, and why the pool is larger than what was requested.",
    .shortcut = "",
    .asks = {Question::free, Question::free_history, Question::pool_costs, Question::pool_costs_here},
    .needs_addresses = true,
    .why_missing = why_no_blocks,
};

}  // namespace hbmscope::gui
