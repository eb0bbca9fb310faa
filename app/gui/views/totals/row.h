#pragma once

#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

std::string totals_report_command(const AppState& state);

inline constexpr ViewRow totals_row{
    .kind = ViewKind::totals,
    .key = "totals",
    .title = "Totals",
    .command = "Show totals over files",
    .help = "One point a file.",
    .shortcut = "Ctrl+7",
    .asks = {Question::series},
    .why_missing = [](const AppState& state) -> std::string_view {
      return state.ready_sources() < 2 ? "Only one file is open." : "";
    },
    .how_to_get = "Open several files to see them as a series.",
    .in_profile = DockPlace::centre,
    .report_command = totals_report_command,
};

}  // namespace hbmscope::gui
