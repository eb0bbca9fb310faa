#include <string>

#include "analysis/query/block_find.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/command_line.h"
#include "app/gui/core/source_facts.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {
namespace {

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

}  // namespace

constinit const ViewRow blocks_row{
    .kind = ViewKind::blocks,
    .key = "blocks",
    .title = "Blocks",
    .command = "Show blocks",
    .help = "The live blocks one by one, sorted and filtered.",
    .shortcut = "",
    .asks = {Question::blocks},
    .needs_addresses = true,
    .why_missing = why_no_blocks,
    .report_command = blocks_report_command,
};

}  // namespace hbmscope::gui
