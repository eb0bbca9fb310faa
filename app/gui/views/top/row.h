#pragma once

#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

inline constexpr ViewRow top_row{
    .kind = ViewKind::top,
    .key = "top",
    .title = "Top",
    .command = "Show top",
    .help = "The frames that hold the most.",
    .shortcut = "Ctrl+3",
    .asks = {Question::top},
    .opens_first = 1,
};

}  // namespace hbmscope::gui
