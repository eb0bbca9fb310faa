#pragma once

#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

inline constexpr ViewRow top_row{
    .kind = ViewKind::top,
    .key = "top",
    .title = "Top",
    .command = "Show top",
    .help = "The lines of your code, or all frames, that hold the most.",
    .shortcut = "Ctrl+3",
    .asks = {Question::top, Question::summary},
    .opens_first = 1,
};

}  // namespace hbmscope::gui
