#include "app/gui/core/questions.h"

#include <algorithm>
#include <map>

#include "app/gui/core/answers.h"
#include "app/gui/core/looking.h"

namespace hbmscope::gui {
namespace {

void look_up_selection(Context& context) {
  const auto& view = context.answers.view.value;
  const FrameKey& selection = context.position.selection;
  if (view.get() == context.selected_of && context.looked_up == selection) return;
  context.selected_of = view.get();
  context.looked_up = selection;
  context.selected = view ? find_frame(*view, selection) : FrameIndex::none;
}

// The largest files of your code get the hues, once.
void give_hues(AppState& state) {
  const auto& flame = state.answers().flame.value;
  if (!flame || state.colors.files().size() == hue_count) return;
  std::map<std::string, std::int64_t> held;
  for (const TreeNode& node : flame->tree.nodes) {
    if (node.frame == FrameIndex::none) continue;
    const Frame& frame = flame->view->frames[static_cast<std::size_t>(node.frame)];
    if (!frame.is_library && !frame.file.empty()) held[frame.file] = std::max(held[frame.file], node.cum.bytes);
  }
  std::vector<std::string> files;
  files.reserve(held.size());
  for (const auto& [file, bytes] : held) files.push_back(file);
  std::stable_sort(files.begin(), files.end(),
                   [&](const std::string& a, const std::string& b) { return held[a] > held[b]; });
  state.colors.add(files, state.hues.known());
}

// False if there are no stacks yet.
bool ask_views(Answering& asking) {
  const Context& context = asking.state().context();
  const ViewPosition& position = context.position;
  const Source* source = asking.state().source();
  if (source == nullptr || source->state != AnswerState::ready) return false;
  // Figures of another file must not appear as those of this one.
  if (asking.notes().answered_source != source->id) asking.forget_all();
  asking.notes().answered_source = source->id;

  if (source->trace) {
    ask_moment(asking);
    ask_pinned(asking);
  }
  // Until the new time is computed, the stacks are those of the previous time.
  const std::vector<HeapKey> heaps = heaps_in_scope(asking.state());
  const bool needs_moment =
      source->trace && (!position.at.empty() || !position.request.where.empty() || !heaps.empty());
  if (!needs_moment || context.answers.moment.state == AnswerState::ready)
    ask_stacks(asking, &Answers::view, *source, source->trace ? position.at : MomentName(),
               needs_moment ? context.answers.moment.value : nullptr, heaps);
  if (context.answers.view.state == AnswerState::ready) {
    asking.notes().viewed.at = context.answers.view.key.at;
    asking.notes().viewed.source = context.answers.view.key.source;
  }
  ask_baseline(asking);
  return context.answers.view.value != nullptr;
}

void ask_about_stacks(Answering& asking) {
  AppState& state = asking.state();
  Context& context = state.context();
  look_up_selection(context);
  const AnswerKey base{asking.notes().viewed.source, {}, asking.notes().viewed.at, context.answers.view.value->request};
#define X(type, name, phrase) \
  if (asking.asks(Question::name)) ask_##name(asking, base);
  HBMSCOPE_STACK_QUESTIONS(X)
#undef X
  const FlameAnswer* flame = context.answers.flame.value.get();
  if (flame != asking.notes().hued) give_hues(state);
  asking.notes().hued = flame;
}

// Once the history of the address is known, shows the time at which its block is freed.
bool follow_release(Answering& asking) {
  const Answer<AddressAnswer>& answer = asking.answers().address;
  AppState& state = asking.state();
  // The last answer may be about another address or time.
  const bool is_known = answer.state == AnswerState::ready && answer.value->moment == ready_moment(state) &&
                        answer.value->range.contains(*asking.notes().wanted_release);
  if (!is_known && !answer.failed()) return false;
  asking.notes().wanted_release.reset();
  if (answer.failed() || !answer.value->history.now) return false;
  const HeldRow& row = answer.value->history.rows[*answer.value->history.now];
  const ViewPosition before = state.position();
  if (row.how == HeldEnd::lives)
    state.window.notice = "This block is never freed.";
  else
    state.context().position.at = {*answer.value->moment->trace, answer.value->heap.stream, row.end_event + 1};
  if (state.position() != before) remember(state, before);
  return true;
}

bool ask_for_context(Answering& asking) {
  asking.notes().visible.waits_for_rest = false;
  AppState& state = asking.state();
  bool changed = false;
  // The active view may not exist for this file. A file that is still being read may get it.
  const Source* source = state.source();
  if (source != nullptr && source->state != AnswerState::pending && row_of(state.position().view).needs_addresses &&
      !view_exists(state, state.position().view)) {
    const auto other = {ViewKind::heap_map, ViewKind::failure, ViewKind::summary};
    show_view(state,
              *std::find_if(other.begin(), other.end() - 1, [&](ViewKind one) { return view_exists(state, one); }));
    changed = true;
  }
  const bool has_stacks = ask_views(asking);
  // The history of the selected address needs the block from the heap map.
  auto& wanted = asking.notes().wanted_release;
  if (wanted != state.position().address) wanted.reset();  // Something else was selected since.
  const bool needs_release = wanted.has_value();
  const bool needs_map = (asking.asks(Question::address) || needs_release) && state.position().address;
  const auto pictures = {Question::heap_map, Question::timeline, Question::address_time};
  if (needs_map || std::any_of(pictures.begin(), pictures.end(), [&](Question one) { return asking.asks(one); }))
    ask_colors(asking);
  if (needs_map) ask_heap_map(asking);
  if (source != nullptr && source->state == AnswerState::ready && source->trace) ask_names(asking);
  ask_frames_blocks(asking);  // The status line has their sum, whatever is shown.
#define X(type, name, phrase) \
  if (asking.asks(Question::name)) ask_##name(asking);
  HBMSCOPE_QUESTIONS(X)
#undef X
  if (needs_release) {
    ask_address(asking);
    if (follow_release(asking)) {
      ask_for_context(asking);  // All of it at the new time.
      return true;
    }
  }
  if (has_stacks) {
    ask_about_stacks(asking);
  } else if (state.source() == nullptr && asking.notes().answered_source != SourceId::none) {
    asking.forget_all();
    asking.notes().answered_source = SourceId::none;
    changed = true;
  }
  return changed;
}

}  // namespace

bool ask_what_is_missing(Answering& asking) {
  bool changed = false;
  for (std::size_t i = 0; i < asking.state().contexts.size(); ++i) {
    const ContextScope scope(asking.state(), i);
    changed = ask_for_context(asking) || changed;
  }
  return changed;
}

}  // namespace hbmscope::gui
