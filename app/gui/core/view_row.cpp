#include "app/gui/core/view_row.h"

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

const ViewRow& row_of(ViewKind kind) {
  return view_table()[static_cast<std::size_t>(kind)];
}

std::optional<ViewKind> parse_view_kind(std::string_view text) {
  for (const ViewRow& row : view_table())
    if (row.key == text || row.title == text || (!row.earlier_key.empty() && row.earlier_key == text)) return row.kind;
  return std::nullopt;
}

std::string view_keys() {
  std::string keys;
  for (const ViewRow& row : view_table()) keys += (keys.empty() ? "" : ", ") + std::string(row.key);
  return keys;
}

std::string_view why_missing(const AppState& state, ViewKind kind) {
  const ViewRow& row = row_of(kind);
  const Source* source = state.source();
  if (source == nullptr) return row.needs_addresses || row.why_missing != nullptr ? "Nothing is open." : "";
  if (row.needs_addresses && !source->trace) return "This file has sizes and stacks, but no addresses or times.";
  return row.why_missing == nullptr ? std::string_view{} : row.why_missing(state);
}

bool view_exists(const AppState& state, ViewKind kind) {
  return why_missing(state, kind).empty();
}

}  // namespace hbmscope::gui
