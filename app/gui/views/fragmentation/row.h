#pragma once

#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

inline constexpr ViewRow fragmentation_row{
    .kind = ViewKind::fragmentation,
    .key = "fragmentation",
    .title = "Fragmentation",
    .command = "Show fragmentation",
    .help = "How much is free, and in how many blocks.",
    .shortcut = "",
    .asks = {Question::free, Question::free_history},
    .needs_addresses = true,
    .opens_first = 2,
};

}  // namespace hbmscope::gui
