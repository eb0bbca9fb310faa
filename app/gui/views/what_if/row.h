#pragma once

#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/source_facts.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

// Of the device of the chosen heap.
std::string what_if_report_command(const AppState& state);

inline constexpr ViewRow what_if_row{
    .kind = ViewKind::what_if,
    .key = "what-if",
    .title = "What if",
    .command = "Show what if",
    .help = "Which settings, allocators, versions and devices would have been enough.",
    .shortcut = "",
    .asks = {Question::what_if},
    .needs_addresses = true,
    .why_missing = why_no_history,
    .report_command = what_if_report_command,
};

}  // namespace hbmscope::gui
