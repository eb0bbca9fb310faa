// What holds the most: lines of your code, all frames, or categories.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "analysis/document/document.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/draw_table.h"

namespace hbmscope::gui {

struct TopState {
  TableState frames, groups;
  std::int64_t frames_flat = 0;  // The sum of the frames that are shown.
  // The rows that are not frames, made for a summary, a view and a choice.
  Table group_table;
  std::shared_ptr<const SummaryAnswer> groups_of;
  std::shared_ptr<const ProfileView> groups_in;
  TopBy groups_by = TopBy::frames;
  std::string filter;            // Of the rows that are known.
  std::optional<bool> has_code;  // Whether there are lines of your code without a filter. Nothing: unknown.
  std::uint64_t copy_seen = 0;
};

void draw_top(const AppState& state, TopState& top, CommandQueue& commands);

}  // namespace hbmscope::gui
