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

}  // namespace hbmscope::gui
