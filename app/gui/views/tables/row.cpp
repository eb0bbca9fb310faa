#include "app/gui/core/app_state.h"
#include "app/gui/core/command_line.h"
#include "app/gui/core/view_row.h"
#include "app/gui/views/tables/table_answer.h"

namespace hbmscope::gui {

constinit const ViewRow tables_row{
    .kind = ViewKind::tables,
    .key = "tables",
    .title = "Tables",
    .command = "Show tables",
    .help = "What else the file says: ranks, bins, counters, the settings of the job, compiled programs.",
    .shortcut = "",
    .asks = {Question::table},
    .needs_addresses = true,
    .add_report_options =
        [](const AppState& state, CommandLine& line) {
          if (const auto& answer = state.answers().table.value) line.add_option("--only", answer->row->name);
        },
};

}  // namespace hbmscope::gui
