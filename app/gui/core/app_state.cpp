#include "app/gui/core/app_state.h"

#include <algorithm>
#include <utility>

namespace hbmscope::gui {

const Source* AppState::find_source(SourceId id) const {
  const auto found =
      std::find_if(sources.begin(), sources.end(), [id](const Source& source) { return source.id == id; });
  return found == sources.end() ? nullptr : &*found;
}

Source* AppState::find_source(SourceId id) {
  return const_cast<Source*>(std::as_const(*this).find_source(id));
}

std::size_t AppState::ready_sources() const {
  return static_cast<std::size_t>(std::count_if(
      sources.begin(), sources.end(), [](const Source& source) { return source.state == AnswerState::ready; }));
}

FrameIndex AppState::selected_frame(const std::shared_ptr<const ProfileView>& view) const {
  return view && view.get() == context().selected_of ? context().selected : FrameIndex::none;
}

MomentName baseline_moment_for(const MomentName& at) {
  if (at.is_end()) return "end";
  return at == "start" || at == "oom" ? at : MomentName("peak");
}

ViewRequest without_filters(const ViewRequest& request) {
  ViewRequest plain;
  plain.by = request.by;
  plain.value_type = request.value_type;
  plain.keep_dropped_frames = request.keep_dropped_frames;
  return plain;
}

std::shared_ptr<const TraceMoment> ready_moment(const AppState& state) {
  const Answer<TraceMoment>& moment = state.answers().moment;
  const Source* source = state.source();
  if (moment.state != AnswerState::ready || source == nullptr || source->trace != moment.value->trace) return nullptr;
  // The other side's next time may not have been requested yet.
  return moment.key.at == state.position().at ? moment.value : nullptr;
}

std::shared_ptr<const TraceMoment> ready_pinned(const AppState& state) {
  const Answer<TraceMoment>& pinned = state.answers().pinned;
  const Source* source = state.source();
  const bool is_ready = pinned.state == AnswerState::ready && source != nullptr && source->trace == pinned.value->trace;
  return is_ready ? pinned.value : nullptr;
}

std::shared_ptr<const TraceMoment> ready_moment_of(const AppState& state, std::size_t context) {
  const ContextScope scope(state, context);
  return ready_moment(state);
}

std::shared_ptr<const BlocksAnswer> highlighted_blocks(const AppState& state) {
  const ViewPosition& position = state.position();
  if (!position.selection.empty() && !position.address) return state.answers().frames_blocks.value;
  return position.request.where.empty() ? nullptr : state.answers().blocks.value;
}

std::optional<HeapColoring> shown_coloring(const AppState& state) {
  const Context& own = state.context();
  if (!own.colors) return std::nullopt;
  if (own.position.coloring != HeapColoring::automatic) return own.position.coloring;
  for (std::size_t i = 0; i < state.contexts.size(); ++i) {
    const Context& other = state.contexts[i];
    const Source* source = state.find_source(other.position.source);
    const bool has_colors = source != nullptr && source->state == AnswerState::ready && source->trace;
    if (i == state.context_index() || !has_colors || other.position.coloring != HeapColoring::automatic) continue;
    if (!other.colors) return std::nullopt;
    if (other.colors->automatic != own.colors->automatic) return HeapColoring::size;
  }
  return own.colors->automatic;
}

}  // namespace hbmscope::gui
