#pragma once

#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

std::string diff_report_command(const AppState& state);

inline constexpr ViewRow diff_row{
    .kind = ViewKind::diff,
    .key = "diff",
    .title = "Diff",
    .command = "Show diff",
    .help = "What changed since the baseline.",
    .shortcut = "Ctrl+5",
    .asks = {Question::diff},
    .why_missing = [](const AppState& state) -> std::string_view {
      return state.sources.size() < 2 ? "Only one file is open." : "";
    },
    .how_to_get = "--baseline FILE opens one to compare with.",
    .report_command = diff_report_command,
};

}  // namespace hbmscope::gui
