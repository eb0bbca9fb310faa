// The source code of the selected frame with the bytes of each line, if the file is on this machine. Or the log around
// a failure, if its line was clicked.
#pragma once

#include <cstdint>
#include <memory>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct SourceViewState {
  std::shared_ptr<const SourceListing> shown;        // The listing that was already scrolled to its line.
  std::shared_ptr<const log::LogExcerpt> shown_log;  // The same of a log.
  std::uint64_t copy_seen = 0;
};

void draw_source(const AppState& state, SourceViewState& source, CommandQueue& commands);

}  // namespace hbmscope::gui
