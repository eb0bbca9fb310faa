#include "app/gui/views/what_if/row.h"

#include "app/gui/core/command_line.h"

namespace hbmscope::gui {

std::string what_if_report_command(const AppState& state) {
  CommandLine line("hbmscope whatif");
  line.add(state.source()->path);
  const Trace& trace = *state.source()->trace;
  if (const HeapKey heap = choose_heap(trace, state.position().heap); !heap.empty())
    if (const auto device = choice_of_heap(trace, heap).device) line.add_option("--device", std::to_string(*device));
  line.add_option("--try", state.position().what_if);
  return line.take();
}

}  // namespace hbmscope::gui
