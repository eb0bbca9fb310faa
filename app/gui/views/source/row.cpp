#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

constinit const ViewRow source_row{
    .kind = ViewKind::source,
    .key = "source",
    .title = "Source",
    .command = "Show source",
    .help = "The source code of the selected frame, or the log around a failure.",
    .shortcut = "Ctrl+6",
    .asks = {Question::listing, Question::log_lines},
};

}  // namespace hbmscope::gui
