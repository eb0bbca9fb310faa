#include "app/gui/core/app_state.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

constinit const ViewRow side_by_side_row{
    .kind = ViewKind::side_by_side,
    .key = "side-by-side",
    .earlier_key = "beside",
    .title = "Side by side",
    .command = "Show differences side by side",
    .help = "The figures of both heaps, and why they differ.",
    .shortcut = "",
    .asks = {Question::side_by_side},
    .needs_addresses = true,
    .why_missing = [](const AppState& state) -> std::string_view {
      if (!state.is_split()) return "Only one side is shown (Ctrl+B).";
      for (const Context& context : state.contexts) {
        const Source* shown = state.find_source(context.position.source);
        if (shown == nullptr || !shown->trace) return "Both sides need a file with addresses.";
      }
      return "";
    },
    .how_to_get = "--compare-with FILE opens the other side.",
    .opens_first = 4,
    .comes_forward = ComesForward::when_it_appears,
};

}  // namespace hbmscope::gui
