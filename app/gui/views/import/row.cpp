#include "app/gui/core/app_state.h"
#include "app/gui/core/command_line.h"
#include "app/gui/core/view_row.h"
#include "app/gui/views/import/import_notes.h"

namespace hbmscope::gui {

constinit const ViewRow import_row{
    .kind = ViewKind::import,
    .key = "import",
    .title = "Import",
    .command = "Show import statistics",
    .help = "What was found, repaired or lost while the file was read.",
    .shortcut = "Ctrl+8",
    .asks = {},
    .has_notes = [](const AppState& state) { return count_of_import_notes(state) > 0; },
    .report_command =
        [](const AppState& state) {
          CommandLine line("hbmscope check");
          line.add(state.source()->path);
          return line.take();
        },
};

}  // namespace hbmscope::gui
