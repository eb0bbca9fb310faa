// How many statistics of the file in front a person should read.
#pragma once

#include <cstddef>

namespace hbmscope::gui {

struct AppState;
std::size_t count_of_import_notes(const AppState& state);

}  // namespace hbmscope::gui
