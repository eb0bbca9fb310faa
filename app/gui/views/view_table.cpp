#include "app/gui/core/view_row.h"
#include "app/gui/views/rows.h"

namespace hbmscope::gui {
namespace {

constexpr ViewRow rows[] = {
#define X(name) name##_row,
    HBMSCOPE_VIEWS(X)
#undef X
};

}  // namespace

std::span<const ViewRow> view_table() {
  return rows;
}

}  // namespace hbmscope::gui
