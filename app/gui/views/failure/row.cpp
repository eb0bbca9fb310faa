#include "analysis/query/failure_facts.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

constinit const ViewRow failure_row{
    .kind = ViewKind::failure,
    .key = "failure",
    .title = "Why it failed",
    .command = "Show why it failed",
    .help = "What was requested, what was free, and the blocking allocations.",
    .shortcut = "",
    .asks = {Question::failure},
    .needs_addresses = true,
    .why_missing = [](const AppState& state) -> std::string_view {
      const Trace& trace = *state.source()->trace;
      const std::string_view doubt = why_no_failure_is_seen(trace);
      return has_failures(trace) ? "" : doubt.empty() ? "No request failed in this file." : doubt;
    },
    .opens_first = 3,
    .comes_forward = ComesForward::once_a_file,
};

}  // namespace hbmscope::gui
