// The state of the window as a command line: paste it in a terminal, in a bug report, in a script, and the same picture
// (or the same figures) come up.
#pragma once

#include <string>
#include <string_view>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

// For POSIX shells: plain where nothing needs quoting, else in single quotes.
std::string shell_quote(std::string_view text);

// A value of the filter language: plain where it can stand so, else in quotes.
std::string where_quote(std::string_view text);

// "hbmscope open a.prof --view flame --where 'size>1GiB' --select train_step"; with the baseline where one is compared.
std::string open_command(const AppState& state);

// What emulates the workload with its changes, and prints what came of it.
std::string workload_command(const Source& source);
// What prints the view in front: `hbmscope report`, `diff`, `check`, `export --to svg`, or of a workload the above.
std::string report_command(const AppState& state);

}  // namespace hbmscope::gui
