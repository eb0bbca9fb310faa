// The number of import statistics of the active file that the user should read.
#pragma once

#include <cstddef>

namespace hbmscope::gui {

struct AppState;
std::size_t count_of_import_notes(const AppState& state);

}  // namespace hbmscope::gui
