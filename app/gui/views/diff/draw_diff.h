// The changes since the baseline, which the head names; the sign is now - baseline. Totals, devices and kinds come
// first, then stacks or functions by absolute change.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct DiffState {
  bool by_function = false;  // False: by stack.
  int column = 0;
  bool ascending = false, by_size = true;  // by_size: largest absolute change first.
  std::vector<std::uint32_t> rows;
  std::shared_ptr<const ProfileDiff> rows_of;
  bool rows_by_function = false;
  std::string rows_find;
  std::uint64_t copy_seen = 0;
};

void draw_diff(const AppState& state, DiffState& diff, CommandQueue& commands);

}  // namespace hbmscope::gui
