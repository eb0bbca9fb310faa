#include "app/gui/core/app_state.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

constinit const ViewRow tpu_row{
    .kind = ViewKind::tpu,
    .key = "tpu",
    .title = "TPU",
    .command = "Show TPU workload",
    .help = "Whether it fits, and what changes with another generation, mesh, buffers or blocks.",
    .shortcut = "",
    .asks = {},
    .needs_addresses = true,
    .why_missing = [](const AppState& state) -> std::string_view {
      return state.source()->workload ? "" : "This is not a TPU workload.";
    },
    .how_to_get = "The folder samples/tpu has some.",
    .opens_first = 5,
};

}  // namespace hbmscope::gui
