// What the active source has, as far as views depend on it. A view that would be empty does not exist.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

// Why there is neither a block nor anything else over time, as a sentence; empty if there is, or if the job still runs.
std::string_view why_no_blocks(const AppState& state);
// Why nothing changes over time, as a sentence; empty if something does, or if the job still runs.
std::string_view why_no_history(const AppState& state);

// The line of the log that Source shows: the chosen one; of a text without blocks, which is all that there is, the one
// that the answer bar speaks of. Nothing means that Source shows code.
std::optional<std::uint64_t> shown_log_line(const AppState& state);

// A trace's first failure, else its peak: at its end most memory has been freed.
std::string headline_of(const Source& source);

}  // namespace hbmscope::gui
