#include "app/gui/core/missing_view.h"

#include "analysis/query/chosen_heap.h"
#include "analysis/units/utf8.h"
#include "app/gui/core/filter_text.h"

namespace hbmscope::gui {

std::string why_no_view(const AppState& state, ViewKind kind) {
  if (state.source() == nullptr) return "Nothing is open.";
  std::string why(why_missing(state, kind));
  if (const std::string_view how = row_of(kind).how_to_get; !why.empty() && !how.empty()) why += " " + std::string(how);
  return why;
}

std::string why_no_request(std::string_view view) {
  if (!view.empty() && !parse_view_kind(view))
    return "There is no view \"" + printable(view) + "\". Known views: " + view_keys() + ".";
  return {};
}

std::string why_not_found(const AppState& state, const std::string& heap) {
  const Source* source = state.source();
  if (source == nullptr) return {};
  if (std::string why = why_no_filter(*source, state.position().request.where); !why.empty()) return printable(why);
  if (!source->trace) return {};
  if (!heap.empty() && !parse_heap_key(heap))
    if (const auto found = find_heap(*source->trace, heap); !found) return printable(found.error().text());
  return {};
}

std::string why_nothing_opened(const AppState& state) {
  return printable(state.window.notice);
}

}  // namespace hbmscope::gui
