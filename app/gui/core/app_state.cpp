#include "app/gui/core/app_state.h"

#include <algorithm>
#include <utility>

#include "app/gui/core/answers.h"
#include "app/gui/core/filter_text.h"

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

std::shared_ptr<const TraceMoment> drawn_moment(const AppState& state) {
  const auto& moment = state.answers().moment.value;
  const auto& map = state.answers().heap_map;
  const bool is_of_it = moment && map.value && map.value->moment->trace->files == moment->trace->files;
  return is_of_it && map.pending() ? map.value->moment : moment;
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

namespace {

// Null: there is only one, or none is shown.
const DeviceHeaps* device_in_scope(const AppState& state) {
  const Source* source = state.source();
  if (source == nullptr || !source->trace || source->devices.size() < 2) return nullptr;
  const HeapKey shown = choose_heap(*source->trace, state.position().heap);
  for (const DeviceHeaps& device : source->devices)
    for (const DeviceHeap& heap : device.heaps)
      if (heap.key == shown) return &device;
  return nullptr;
}

// A baseline is compared as a whole.
bool is_about_all(const ViewPosition& position) {
  return position.all_devices || position.baseline != SourceId::none;
}

}  // namespace

std::vector<HeapKey> heaps_in_scope(const AppState& state) {
  const DeviceHeaps* device = device_in_scope(state);
  std::vector<HeapKey> heaps;
  if (device == nullptr || is_about_all(state.position())) return heaps;
  for (const DeviceHeap& heap : device->heaps) heaps.push_back(heap.key);
  return heaps;
}

std::string name_of_scope(const AppState& state) {
  const DeviceHeaps* device = device_in_scope(state);
  if (device == nullptr) return {};
  return is_about_all(state.position()) ? "all " + std::to_string(state.source()->devices.size()) + " devices"
                                        : device->name;
}

std::string in_scope(const AppState& state) {
  const std::string name = name_of_scope(state);
  return name.empty() ? name : " on " + name;
}

MapLayout map_layout_of(const AppState& state, std::size_t context) {
  const ViewPosition& position = state.contexts[context].position;
  std::size_t places = 0;
  for (const Context& one : state.contexts)
    if (one.answers.heap_map.value) places = std::max(places, one.answers.heap_map.value->spans.places.size());
  return shown_layout(position.map_layout, places, !position.addresses.empty());
}

std::shared_ptr<const StackCourse> shown_stack(const AppState& state, HeapKey heap, TimelineSpan seen) {
  const auto& part = state.answers().stack_part.value;
  const auto& whole = state.answers().stack.value;
  const bool is_of_part = part && whole && part->query() == whole->query() && part->span() == seen;
  const auto& course = is_of_part ? part : whole;
  return course && course->query().heap == heap ? course : nullptr;
}

std::shared_ptr<const BlocksAnswer> highlighted_blocks(const AppState& state) {
  const ViewPosition& position = state.position();
  if (selects_blocks(position)) {
    const auto& found = state.answers().frames_blocks.value;
    return found && found->query.where == highlight_filter(position) ? found : nullptr;
  }
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
