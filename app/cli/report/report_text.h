// A frame as text: in tables that aren't parts of a document.
#pragma once

#include <string>

#include "analysis/query/profile_view.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

// "train_step  train.py:41"; the file is cut on its left to fit.
std::string text_from_frame(const Frame& frame, const Terminal& terminal, std::size_t width = 0);

}  // namespace hbmscope::cli
