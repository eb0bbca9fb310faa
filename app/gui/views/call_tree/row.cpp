#include "app/gui/core/source_facts.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

constinit const ViewRow call_tree_row{
    .kind = ViewKind::call_tree,
    .key = "tree",
    .title = "Call tree",
    .command = "Show call tree",
    .help = "Stacks as a tree, from either end.",
    .shortcut = "Ctrl+4",
    .asks = {Question::tree},
    .why_missing = why_no_blocks,
};

}  // namespace hbmscope::gui
