// The state of the window as a command line. Pasted into a terminal, a bug report or a script, it shows the same
// picture or prints the same figures.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/query/where.h"
#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

// "hbmscope open a.prof --view flame --where 'size>1GiB' --select train_step"; with `--baseline` when two files are
// compared.
std::string open_command(const AppState& state);
// Its options without the files, for the link to a page: {"view", "flame"}, {"all-devices", ""}.
std::vector<std::pair<std::string, std::string>> open_options(const AppState& state);
// For one file.
std::string open_command(const Source& source, const ViewPosition& position);

// The command that emulates the workload with its changes and prints the result.
std::string workload_command(const Source& source);
// The command that prints the view in front: `hbmscope report`, `diff`, `check`, `export --to svg`, or
// workload_command().
std::string report_command(const AppState& state);

}  // namespace hbmscope::gui
