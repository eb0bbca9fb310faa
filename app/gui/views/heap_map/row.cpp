#include "app/gui/core/source_facts.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

constinit const ViewRow heap_map_row{
    .kind = ViewKind::heap_map,
    .key = "heap-map",
    .title = "Heap map",
    .command = "Show heap map",
    .help = "Every block and every free block by address.",
    .shortcut = "Ctrl+9",
    .asks = {Question::heap_map},
    .needs_addresses = true,
    .why_missing = why_no_blocks,
    .is_side_by_side = true,
    .has_one_line_head = true,
    .in_trace = DockPlace::centre,
    .opens_first = 1,
};

}  // namespace hbmscope::gui
