#include "app/gui/core/view_row.h"

namespace hbmscope::gui {

std::span<const ViewRow> view_table() {
  static const ViewRow rows[] = {
#define X(name) name##_row,
      HBMSCOPE_VIEWS(X)
#undef X
  };
  return rows;
}

}  // namespace hbmscope::gui
