#include "app/gui/core/source_facts.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

constinit const ViewRow top_row{
    .kind = ViewKind::top,
    .key = "top",
    .title = "Top",
    .command = "Show top",
    .help = "The lines of your code, or all frames, that hold the most.",
    .shortcut = "Ctrl+3",
    .asks = {Question::top, Question::summary},
    .why_missing = why_no_blocks,
    .opens_first = 2,
};

}  // namespace hbmscope::gui
