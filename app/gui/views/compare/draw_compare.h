// Two times of one trace: what is new, gone, grown or moved since the pinned time, in total and by line of code.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct CompareState {
  std::shared_ptr<const CompareAnswer> rows_of;  // The answer that `rows` refers to.
  std::vector<std::uint32_t> rows;               // Indices into its user_code, in the order of the table.
  std::uint64_t copy_seen = 0;
};

void draw_compare(const AppState& state, CompareState& compare, CommandQueue& commands);

}  // namespace hbmscope::gui
