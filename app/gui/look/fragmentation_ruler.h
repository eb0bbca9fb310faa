// The fragmentation ruler: the request on top, all free memory below it, divided into its blocks (largest first), on
// one scale. The first block's share of the lower bar is 1 - external fragmentation.
#pragma once

#include <optional>

#include "analysis/query/free_blocks.h"
#include "app/gui/look/theme.h"

namespace hbmscope::gui {

struct RulerRequest {
  std::uint64_t bytes = 0;
  bool has_failed = false;
  bool is_now = false;     // It fails at the current time.
  const char* words = "";  // "the request", "the largest request so far"
};
void draw_ruler(const Look& look, const FreeBlocks& free, const std::optional<RulerRequest>& request);

}  // namespace hbmscope::gui
