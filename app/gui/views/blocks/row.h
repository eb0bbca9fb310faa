#pragma once

#include <string>

#include "app/gui/core/source_facts.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

std::string blocks_report_command(const AppState& state);

inline constexpr ViewRow blocks_row{
    .kind = ViewKind::blocks,
    .key = "blocks",
    .title = "Blocks",
    .command = "Show blocks",
    .help = "The live blocks one by one, sorted and filtered.",
    .shortcut = "",
    .asks = {Question::blocks},
    .needs_addresses = true,
    .why_missing = why_no_blocks,
    .report_command = blocks_report_command,
};

}  // namespace hbmscope::gui
