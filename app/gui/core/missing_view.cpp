#include "app/gui/core/missing_view.h"

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
    case ViewKind::beside: return "there are no two traces side by side; --beside FILE names the other one";
    case ViewKind::failure: return "no request failed in " + name;
    case ViewKind::tpu: return name + " is no TPU workload (samples/tpu has some)";
    default: return "this file has none";
  }
}

}  // namespace hbmscope::gui
