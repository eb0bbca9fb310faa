// The ruler: a request above, all that is free below, cut into its pieces, the largest first, both to one scale. How
// long the first piece is in the whole lower bar is 1 - external fragmentation.
#pragma once

#include <optional>

#include "analysis/query/free_pieces.h"
#include "app/gui/look/theme.h"

namespace hbmscope::gui {

struct RulerRequest {
  std::uint64_t bytes = 0;
  bool has_failed = false;
  bool is_now = false;     // It is the one that fails at the moment.
  const char* words = "";  // "the request", "the largest request so far"
};
void draw_ruler(const Look& look, const FreePieces& free, const std::optional<RulerRequest>& request);

}  // namespace hbmscope::gui
