#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/command_line.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {
namespace {

std::string diff_report_command(const AppState& state) {
  const ViewPosition& position = state.position();
  const Source *source = state.source(), *baseline = state.baseline();
  if (baseline == nullptr) return {};
  CommandLine line("hbmscope diff");
  line.add(baseline->path);
  line.add(source->path);
  if (source->trace && baseline->trace) {
    const MomentName now_at = position.at.empty() ? MomentName("end") : position.at;
    const MomentName at = baseline_moment_for(now_at);
    line.add_option("--from", at == now_at ? "" : at.text());
    line.add_option("--at", now_at.text());
  }
  line.add_filters(position.request);
  line.add_option("--match", position.match == StackMatch::line ? "line" : "");
  return line.take();
}

}  // namespace

constinit const ViewRow diff_row{
    .kind = ViewKind::diff,
    .key = "diff",
    .title = "Diff",
    .command = "Show diff",
    .help = "What changed since the baseline.",
    .shortcut = "Ctrl+5",
    .asks = {Question::diff},
    .why_missing = [](const AppState& state) -> std::string_view {
      return state.sources.size() < 2 ? "Only one file is open." : "";
    },
    .how_to_get = "--baseline FILE opens one to compare with.",
    .report_command = diff_report_command,
};

}  // namespace hbmscope::gui
