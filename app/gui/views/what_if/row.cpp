#include <string>

#include "app/gui/core/answers.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/command_line.h"
#include "app/gui/core/source_facts.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {
namespace {

// For the device of the chosen heap.
std::string what_if_report_command(const AppState& state) {
  CommandLine line("hbmscope whatif");
  line.add(state.source()->path);
  const Trace& trace = *state.source()->trace;
  if (const HeapKey heap = choose_heap(trace, state.position().heap); !heap.empty())
    if (const auto device = choice_of_heap(trace, heap).device) line.add_option("--device", std::to_string(*device));
  line.add_option("--try", state.position().what_if);
  return line.take();
}

}  // namespace

constinit const ViewRow what_if_row{
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
