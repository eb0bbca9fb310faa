#include <algorithm>
#include <filesystem>
#include <map>

#include "analysis/trace/profile_from_trace.h"
#include "app/gui/core/app_impl.h"
#include "app/gui/core/ask.h"

namespace hbmscope::gui {

Error cancelled_error() {
  return {"cancelled", "", "", std::nullopt, false};
}
namespace {

namespace fs = std::filesystem;

std::size_t bytes_of(const ProfileView& view) {
  return view.samples.size() * sizeof(view.samples[0]) + view.frames.size() * (sizeof(Frame) + 64) +
         (view.frame_begin.size() + view.location_frames.size() + view.skip.size()) * 4;
}
std::size_t bytes_of(const CallTree& tree) {
  return tree.nodes.size() * sizeof(TreeNode);
}
std::size_t bytes_of(const FlameLayout& layout) {
  return layout.begin.size() * (2 * sizeof(double) + 4);
}
std::size_t bytes_of(const ProfileDiff& diff) {
  std::size_t bytes = diff.frames.size() * sizeof(FrameDiffRow) + diff.frame_table.size() * (sizeof(Frame) + 64);
  for (const DiffRow& row : diff.stacks) bytes += sizeof(DiffRow) + row.stack.size() * sizeof(FrameIndex);
  return bytes;
}

const char* name_of_value(FlameValue value) {
  return value == FlameValue::bytes ? "bytes" : "count";
}
const char* name_of_direction(TreeDirection direction) {
  return direction == TreeDirection::callees ? "callees" : "callers";
}
std::string name_of_key(const FrameKey& key) {
  return key.function + '\n' + key.file + '\n' + std::to_string(key.line);
}

// Where a frame's source file may lie: beside the profile, in the four folders above it, where hbmscope was started.
std::vector<std::string> source_folders(const std::string& profile_path) {
  std::vector<std::string> folders;
  std::error_code error;
  fs::path folder = fs::absolute(profile_path, error).parent_path();
  for (int level = 0; level < 5 && !error && folder.has_relative_path(); ++level) {
    folders.push_back(folder.string());
    folder = folder.parent_path();
  }
  const std::string here = fs::current_path(error).string();
  if (!error && std::find(folders.begin(), folders.end(), here) == folders.end()) folders.push_back(here);
  return folders;
}

}  // namespace

void App::Impl::forget_answers() {
  forget(slot_view, &Answers::view);
  forget(slot_moment, &Answers::moment);
  forget(slot_pinned, &Answers::pinned);
  forget(static_cast<int>(Question::compare), &Answers::compare);
  forget(static_cast<int>(Question::beside), &Answers::beside);
  forget(static_cast<int>(Question::heap_map), &Answers::heap_map);
  forget(static_cast<int>(Question::timeline), &Answers::timeline);
  forget(slot_timeline_part, &Answers::timeline_part);
  forget(static_cast<int>(Question::address_time), &Answers::address_time);
  forget(static_cast<int>(Question::range), &Answers::range);
  forget(static_cast<int>(Question::free), &Answers::free);
  forget(static_cast<int>(Question::free_history), &Answers::free_history);
  forget(static_cast<int>(Question::failure), &Answers::failure);
  forget(static_cast<int>(Question::sizes), &Answers::sizes);
  forget_blocks();
  forget(slot_baseline_view, &Answers::baseline_view);
  forget(static_cast<int>(Question::summary), &Answers::summary);
  forget(static_cast<int>(Question::top), &Answers::top);
  forget(static_cast<int>(Question::flame), &Answers::flame);
  forget(static_cast<int>(Question::search), &Answers::search);
  forget(static_cast<int>(Question::tree), &Answers::tree);
  forget(static_cast<int>(Question::detail), &Answers::detail);
  forget(slot_baseline_moment, &Answers::baseline_moment);
  forget(slot_settings, &Answers::settings);
  forget(static_cast<int>(Question::diff), &Answers::diff);
  forget(static_cast<int>(Question::listing), &Answers::listing);
}

// `moment`: of a trace; null: what lives at the end, which was worked out with reading.
void App::Impl::ask_view(int kind, Answer<ProfileView> Answers::*member, const Source& of, const MomentName& at,
                         const std::shared_ptr<const TraceMoment>& moment) {
  const ViewRequest& request = state.position().request;
  ask<ProfileView>(
      kind, member, {0, of.id, SourceId::none, request, {}, at},
      [profile = of.profile, request, moment](const auto&) -> Result<Computed<ProfileView>> {
        auto view = make_view(
            moment ? std::make_shared<const Profile>(profile_from_trace(*moment->trace, moment->states)) : profile,
            request);
        if (!view) return Failure(view.error());
        const std::size_t bytes = bytes_of(*view);
        return Computed<ProfileView>{std::make_shared<const ProfileView>(std::move(*view)), bytes};
      });
}

void App::Impl::ask_baseline(const Source& source) {
  const Source* baseline = state.baseline();
  if (baseline == nullptr || baseline->state != AnswerState::ready || baseline->id == source.id) {
    if (!slot(slot_baseline_view).asked) return;
    forget(slot_baseline_view, &Answers::baseline_view);
    forget(slot_baseline_moment, &Answers::baseline_moment);
    forget(slot_settings, &Answers::settings);
    return forget(static_cast<int>(Question::diff), &Answers::diff);
  }
  if (!source.trace || !baseline->trace) {
    forget(slot_baseline_moment, &Answers::baseline_moment);
    forget(slot_settings, &Answers::settings);
    return ask_view(slot_baseline_view, &Answers::baseline_view, *baseline, {}, {});
  }
  ask_settings();
  const MomentName at = baseline_moment_for(state.position().at);
  ask_moment_at(slot_baseline_moment, &Answers::baseline_moment, *baseline, at);
  const Answer<TraceMoment>& moment = state.answers().baseline_moment;
  if (moment.state == AnswerState::ready)
    ask_view(slot_baseline_view, &Answers::baseline_view, *baseline, at, moment.value);
}

bool App::Impl::ask_views(Context& context) {
  const ViewPosition& position = context.position;
  const Source* source = state.source();
  if (source == nullptr || source->state != AnswerState::ready) return false;
  if (side().answered_source != source->id)
    forget_answers();  // Another file's figures must not be taken for this one's.
  side().answered_source = source->id;

  if (source->trace) {
    ask_moment(*source);
    ask_pinned(*source);
  }
  // Until the moment is there, the stacks are those of the moment before.
  if (!source->trace || position.at.empty() || context.answers.moment.state == AnswerState::ready)
    ask_view(slot_view, &Answers::view, *source, source->trace ? position.at : MomentName(),
             position.at.empty() ? nullptr : context.answers.moment.value);
  if (context.answers.view.state == AnswerState::ready) side().viewed_at = slot(slot_view).key.at;
  ask_baseline(*source);
  return context.answers.view.value != nullptr;
}

void App::Impl::ask_summary(const QueryKey& base) {
  ask<SummaryAnswer>(static_cast<int>(Question::summary), &Answers::summary, base,
                     [view = state.answers().view.value](const auto&) -> Result<Computed<SummaryAnswer>> {
                       auto answer = std::make_shared<SummaryAnswer>();
                       answer->summary = compute_summary(*view);
                       answer->own_code = compute_own_code(*view);
                       const std::size_t bytes = 4096 + answer->own_code.size() * 200;
                       return Computed<SummaryAnswer>{std::move(answer), bytes};
                     });
}

void App::Impl::ask_top(const QueryKey& base) {
  ask<TopAnswer>(static_cast<int>(Question::top), &Answers::top, base,
                 [view = state.answers().view.value](const auto&) -> Result<Computed<TopAnswer>> {
                   auto top = std::make_shared<TopAnswer>();
                   top->view = view;
                   top->rows = compute_top(*view);
                   const std::size_t bytes = top->rows.size() * sizeof(TopRow);
                   return Computed<TopAnswer>{std::move(top), bytes};
                 });
}

void App::Impl::ask_flame(const QueryKey& base) {
  const ViewPosition& position = state.position();
  QueryKey key = base;
  key.detail = std::string(name_of_direction(position.flame_direction)) + (position.fold_library ? " folded " : " ") +
               name_of_value(position.value);
  ask<FlameAnswer>(
      static_cast<int>(Question::flame), &Answers::flame, key,
      [view = state.answers().view.value, direction = position.flame_direction, fold = position.fold_library,
       value = position.value](const std::atomic<bool>& cancelled) -> Result<Computed<FlameAnswer>> {
        auto tree = compute_call_tree(*view, direction, fold, &cancelled);
        if (!tree) return Failure(cancelled_error());
        auto flame = std::make_shared<FlameAnswer>();
        flame->view = view;
        flame->tree = std::move(*tree);
        flame->layout = compute_flame_layout(flame->tree, value);
        const std::size_t bytes = bytes_of(flame->tree) + bytes_of(flame->layout);
        return Computed<FlameAnswer>{std::move(flame), bytes};
      });
}

void App::Impl::ask_search(const QueryKey& base) {
  const Answer<FlameAnswer>& flame = state.answers().flame;
  const std::string& text = state.position().find;
  if (text.empty() || !flame.value) return forget(static_cast<int>(Question::search), &Answers::search);
  if (flame.state != AnswerState::ready) return;  // The hits are numbers of nodes: first the nodes.
  QueryKey key = base;
  key.detail = slot(static_cast<int>(Question::flame)).key.detail + "\n" + text;
  ask<SearchAnswer>(static_cast<int>(Question::search), &Answers::search, key,
                    [flame = flame.value, text](const auto&) -> Result<Computed<SearchAnswer>> {
                      auto answer = std::make_shared<SearchAnswer>();
                      answer->flame = flame;
                      answer->text = text;
                      answer->search = search_flame(*flame->view, flame->tree, text);
                      return Computed<SearchAnswer>{std::move(answer), flame->tree.nodes.size() / 8};
                    });
}

void App::Impl::ask_tree(const QueryKey& base) {
  const TreeDirection direction = state.position().tree_direction;
  QueryKey key = base;
  key.detail = name_of_direction(direction);
  ask<TreeAnswer>(static_cast<int>(Question::tree), &Answers::tree, key,
                  [view = state.answers().view.value,
                   direction](const std::atomic<bool>& cancelled) -> Result<Computed<TreeAnswer>> {
                    auto tree = compute_call_tree(*view, direction, false, &cancelled);
                    if (!tree) return Failure(cancelled_error());
                    auto answer = std::make_shared<TreeAnswer>();
                    answer->view = view;
                    answer->tree = std::move(*tree);
                    const std::size_t bytes = bytes_of(answer->tree);
                    return Computed<TreeAnswer>{std::move(answer), bytes};
                  });
}

void App::Impl::ask_detail(const QueryKey& base) {
  const FrameIndex frame = state.selected_frame(state.answers().view.value);
  if (frame == FrameIndex::none) return forget(static_cast<int>(Question::detail), &Answers::detail);
  QueryKey key = base;
  key.detail = name_of_key(state.position().selection);
  ask<FrameDetail>(
      static_cast<int>(Question::detail), &Answers::detail, key,
      [view = state.answers().view.value, frame](const auto&) -> Result<Computed<FrameDetail>> {
        return Computed<FrameDetail>{std::make_shared<const FrameDetail>(compute_frame_detail(view, frame)), 65536};
      });
}

void App::Impl::ask_diff(const QueryKey& base) {
  const Answers& answers = state.answers();
  if (!answers.baseline_view.value || answers.view.state != AnswerState::ready ||
      answers.baseline_view.state != AnswerState::ready)
    return;
  // The baseline's view may still be of another file, or of the moment before.
  const QueryKey& baseline_key = slot(slot_baseline_view).key;
  if (baseline_key.source != state.position().baseline) return;
  if (answers.baseline_moment.value && baseline_key.at != baseline_moment_for(side().viewed_at)) return;
  QueryKey key = base;
  key.baseline = state.position().baseline;
  const StackMatch match = state.position().match;
  key.detail = match == StackMatch::line ? "line" : "function";
  ask<ProfileDiff>(static_cast<int>(Question::diff), &Answers::diff, key,
                   [now = answers.view.value, baseline = answers.baseline_view.value,
                    match](const auto&) -> Result<Computed<ProfileDiff>> {
                     // By line even where stacks are matched by function, so that rows can name the line that changed.
                     const auto by_line = [](const ProfileView& view) {
                       ViewRequest request = view.request;
                       request.by = FrameBy::line;
                       return make_view(view.profile, request);
                     };
                     const auto before = by_line(*baseline), after = by_line(*now);
                     if (!before) return Failure(before.error());
                     if (!after) return Failure(after.error());
                     auto diff = std::make_shared<const ProfileDiff>(compute_diff(*before, *after, match));
                     const std::size_t bytes = bytes_of(*diff);
                     return Computed<ProfileDiff>{std::move(diff), bytes};
                   });
}

void App::Impl::ask_listing(const QueryKey& base) {
  const auto& view = state.answers().view.value;
  const FrameIndex frame = state.selected_frame(view);
  const Source* source = state.source();
  if (frame == FrameIndex::none || source == nullptr)
    return forget(static_cast<int>(Question::listing), &Answers::listing);
  FrameKey selected = key_from_frame(view->frames[static_cast<std::size_t>(frame)]);
  if (view->request.by == FrameBy::file && selected.file.empty()) selected.file = selected.function;
  if (view->request.by != FrameBy::line) selected.line = state.position().selection.line;
  QueryKey key = base;
  key.detail = name_of_key(selected);
  ask<SourceListing>(
      static_cast<int>(Question::listing), &Answers::listing, key,
      [view, selected, path = source->path](const auto&) -> Result<Computed<SourceListing>> {
        ViewRequest by_line = view->request;
        by_line.by = FrameBy::line;
        const auto lines = make_view(view->profile, by_line);
        if (!lines) return Failure(lines.error());
        auto listing = read_source_listing(*lines, selected, source_folders(path));
        if (!listing) return Failure(listing.error());
        const std::size_t bytes = listing->lines.size() * 64;
        return Computed<SourceListing>{std::make_shared<const SourceListing>(std::move(*listing)), bytes};
      });
}

void App::Impl::ask_series(const QueryKey& base) {
  std::vector<std::shared_ptr<const Profile>> profiles;
  QueryKey key = base;
  key.source = state.position().source;
  for (const Source& source : state.sources) {
    if (source.state != AnswerState::ready) continue;
    profiles.push_back(source.profile);
    key.detail += std::to_string(static_cast<std::uint32_t>(source.id)) + " ";
  }
  ask<std::vector<SeriesPoint>>(static_cast<int>(Question::series), &Answers::series, key,
                                [profiles, request = base.request](
                                    const std::atomic<bool>& cancelled) -> Result<Computed<std::vector<SeriesPoint>>> {
                                  std::vector<ProfileView> views;
                                  for (const auto& profile : profiles) {
                                    if (cancelled) return Failure(cancelled_error());
                                    auto view = make_view(profile, request);
                                    if (!view) return Failure(view.error());
                                    views.push_back(std::move(*view));
                                  }
                                  auto series = std::make_shared<const std::vector<SeriesPoint>>(compute_series(views));
                                  return Computed<std::vector<SeriesPoint>>{series, series->size() * 1024};
                                });
}

void App::Impl::look_up_selection() {
  Context& context = state.context();
  const auto& view = context.answers.view.value;
  const FrameKey& selection = context.position.selection;
  if (view.get() == context.selected_of && context.looked_up == selection) return;
  context.selected_of = view.get();
  context.looked_up = selection;
  context.selected = view ? find_frame(*view, selection) : FrameIndex::none;
}

// The largest files of the person's own code get the hues, once.
void App::Impl::give_hues() {
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
  state.colors.add(files);
}

bool App::Impl::ask_what_is_missing() {
  bool changed = false;
  for (std::size_t i = 0; i < state.contexts.size(); ++i) {
    const ContextScope scope(state, i);
    changed = ask_for_context() || changed;
  }
  return changed;
}

bool App::Impl::ask_for_context() {
  side().waits_for_rest = false;
  Context& context = state.context();
  const auto asks = [this](Question question) { return this->asks(question); };
  bool changed = false;
  // A view that the file in front can't have, whatever brought the file there. One that is not read yet may have it.
  const Source* source = state.source();
  if (source != nullptr && source->state != AnswerState::pending && is_of_trace(context.position.view) &&
      !view_exists(state, context.position.view)) {
    show_view(source->trace ? ViewKind::heap_map : ViewKind::summary);
    changed = true;
  }
  const bool has_view = ask_views(context);
  if (asks(Question::heap_map)) ask_heap_map();
  if (asks(Question::timeline)) ask_timeline();
  if (asks(Question::address_time)) ask_address_time();
  if (asks(Question::range)) ask_range();
  if (asks(Question::free)) ask_free();
  if (asks(Question::free_history)) ask_free_history();
  if (asks(Question::failure)) ask_failure();
  if (asks(Question::sizes)) ask_sizes();
  if (asks(Question::compare)) ask_compare();
  if (asks(Question::beside)) ask_beside();
  ask_about_blocks();
  if (has_view) {
    look_up_selection();
    const QueryKey base{0,  context.position.source, SourceId::none, context.answers.view.value->request,
                        {}, side().viewed_at};
    if (asks(Question::summary)) ask_summary(base);
    if (asks(Question::top)) ask_top(base);
    if (asks(Question::flame)) ask_flame(base);
    if (asks(Question::flame)) ask_search(base);
    if (asks(Question::tree)) ask_tree(base);
    if (asks(Question::detail)) ask_detail(base);
    if (asks(Question::diff)) ask_diff(base);
    if (asks(Question::listing)) ask_listing(base);
    if (asks(Question::series)) ask_series(base);
    const FlameAnswer* flame = context.answers.flame.value.get();
    if (flame != side().hued) give_hues();
    side().hued = flame;
  } else if (state.source() == nullptr && side().answered_source != SourceId::none) {
    forget_answers();
    forget(static_cast<int>(Question::series), &Answers::series);
    side().answered_source = SourceId::none;
    changed = true;
  }
  return changed;
}

}  // namespace hbmscope::gui
