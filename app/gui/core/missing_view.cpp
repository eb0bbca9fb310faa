#include "app/gui/core/missing_view.h"

#include "analysis/query/block_find.h"
#include "analysis/query/block_list.h"
#include "analysis/query/chosen_heap.h"
#include "analysis/units/utf8.h"

namespace hbmscope::gui {

std::string why_no_view(const AppState& state, ViewKind kind) {
  const Source* source = state.source();
  if (source == nullptr) return "nothing is open";
  if (view_exists(state, kind)) return {};
  const std::string name = printable(source->name());
  if (is_of_trace(kind) && source->trace == nullptr) return name + " has sizes and stacks, but no addresses or times";
  switch (kind) {
    case ViewKind::diff: return "there is one file only; --baseline FILE names another to compare it with";
    case ViewKind::totals: return "there is one file only; several are shown as a series";
    case ViewKind::range: return "no time is selected; --from and --at select one";
    case ViewKind::compare: return "no moment is pinned; --pin names one";
    case ViewKind::beside: return "there are no two traces side by side; --compare-with FILE opens the second one";
    case ViewKind::failure: return "no request failed in " + name;
    case ViewKind::tpu: return name + " is no TPU workload (samples/tpu has some)";
    default: return "this file has none";
  }
}

std::string why_no_request(std::string_view view, std::string_view where) {
  if (!view.empty() && !parse_view_kind(view)) {
    std::string known;
    for (const ViewName& name : view_names) known += (known.empty() ? "" : ", ") + std::string(name.key);
    return "there is no view '" + printable(view) + "'. Known: " + known + ".";
  }
  const auto parsed = parse_where(where, profile_where_fields());
  return parsed ? std::string() : printable(parsed.error().text());
}

std::string why_not_found(const AppState& state, const std::string& heap, std::string_view find) {
  const Source* source = state.source();
  if (source == nullptr || !source->trace) return {};
  if (!heap.empty() && !parse_heap_key(heap))
    if (const auto found = find_heap(*source->trace, heap); !found) return printable(found.error().text());
  const auto parsed = parse_where(where_from_find(find), block_where_fields(*source->trace));
  return parsed ? std::string() : printable(parsed.error().text());
}

std::string why_nothing_opened(const AppState& state) {
  return printable(state.window.notice);
}

}  // namespace hbmscope::gui
