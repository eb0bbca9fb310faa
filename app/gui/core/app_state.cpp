#include "app/gui/core/app_state.h"

#include <algorithm>
#include <filesystem>

namespace hbmscope::gui {

std::string Source::name() const {
  const std::string last = std::filesystem::path(path).filename().string();
  return last.empty() ? path : last;
}

const Source* AppState::find_source(SourceId id) const {
  const auto found =
      std::find_if(sources.begin(), sources.end(), [id](const Source& source) { return source.id == id; });
  return found == sources.end() ? nullptr : &*found;
}

std::size_t AppState::ready_sources() const {
  return static_cast<std::size_t>(std::count_if(
      sources.begin(), sources.end(), [](const Source& source) { return source.state == AnswerState::ready; }));
}

FrameIndex AppState::selected_frame(const std::shared_ptr<const ProfileView>& view) const {
  return view && view.get() == context().selected_of ? context().selected : FrameIndex::none;
}

std::string baseline_at_of(std::string_view at) {
  if (at.empty() || at == "end") return "end";
  return at == "start" || at == "oom" ? std::string(at) : "peak";
}

bool view_exists(const AppState& state, ViewKind kind) {
  const Source* source = state.source();
  const Trace* trace = source == nullptr ? nullptr : source->trace.get();
  if (is_of_trace(kind) && trace == nullptr) return false;
  switch (kind) {
    case ViewKind::diff: return state.sources.size() >= 2;
    case ViewKind::totals: return state.ready_sources() >= 2;
    case ViewKind::range: return !state.position().range.empty();
    case ViewKind::compare: return !state.position().pin.empty();
    case ViewKind::failure: return has_failures(*trace);
    default: return true;
  }
}

}  // namespace hbmscope::gui
