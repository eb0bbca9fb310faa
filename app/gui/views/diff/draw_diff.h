// What changed since the baseline: always named, sign = now - baseline, said in the head; totals, devices and kinds,
// then stacks or functions by absolute change.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct DiffState {
  bool by_function = false;  // Else by stack.
  int column = 0;
  bool ascending = false, by_size = true;  // by_size: the largest change first, whatever its sign.
  std::vector<std::uint32_t> rows;
  std::shared_ptr<const ProfileDiff> rows_of;
  bool rows_by_function = false;
  std::string rows_find;
  std::uint64_t copy_seen = 0;
};

void draw_diff(const AppState& state, DiffState& diff, CommandQueue& commands);

}  // namespace hbmscope::gui
