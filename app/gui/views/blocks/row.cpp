#include "app/gui/views/blocks/row.h"

#include "analysis/query/block_find.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/command_line.h"

namespace hbmscope::gui {

std::string blocks_report_command(const AppState& state) {
  const ViewPosition& position = state.position();
  CommandLine line("hbmscope report");
  line.add(state.source()->path);
  line.add_option("--at", position.at.text());
  line.add_option("--blocks", "0");
  line.add_option("--where", where_from_find(position.request.where));
  if (position.blocks.order != BlockOrder::size)
    line.add_option("--order", text_from_block_order(position.blocks.order));
  line.add_flag("--ascending", position.blocks.is_ascending);
  return line.take();
}

}  // namespace hbmscope::gui
