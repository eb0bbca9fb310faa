#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/command_line.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

inline constexpr ViewRow what_if_row{
    .kind = ViewKind::what_if,
    .key = "what-if",
    .title = "What if",
    .command = "Show what if",
    .help = "Which settings, allocators, versions and devices would have been enough.",
    .shortcut = "",
    .asks = {Question::what_if},
    .needs_addresses = true,
    .report_command =
        [](const AppState& state) {
          CommandLine line("hbmscope whatif");
          line.add(state.source()->path);
          line.add_option("--try", state.position().what_if);
          return line.take();
        },
};

}  // namespace hbmscope::gui
