#include "app/gui/views/import/import_notes.h"

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

std::size_t count_of_import_notes(const AppState& state) {
  const Source* source = state.source();
  if (source == nullptr || !source->profile) return 0;
  const auto& rows = source->profile->import.rows();
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [](const ImportStatistic& row) { return row.severity != Severity::info; }));
}

}  // namespace hbmscope::gui
