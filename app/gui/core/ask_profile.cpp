// Questions about stacks: the filtered view, and the tables and graphs made from it.
#include <filesystem>

#include "analysis/answers/summary.h"
#include "analysis/answers/top.h"
#include "analysis/model/device_name.h"
#include "analysis/query/block_find.h"
#include "analysis/query/block_list.h"
#include "analysis/query/block_list_rows.h"
#include "analysis/query/view_of_blocks.h"
#include "analysis/trace/profile_from_trace.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/questions.h"

namespace hbmscope::gui {
namespace {

struct FlameOptions {
  TreeDirection direction = TreeDirection::callees;
  bool folds_library = false;
  FlameValue value = FlameValue::bytes;
  bool operator==(const FlameOptions&) const = default;
};
// What the colours of the flame graph compare with: another file, or the pinned time.
struct FlameCompared {
  FlameOptions flame;
  std::shared_ptr<const ProfileView> baseline;
  std::shared_ptr<const TraceMoment> pinned;
  bool operator==(const FlameCompared&) const = default;
};
struct SearchOptions {
  FlameOptions flame;  // Search hits are node numbers of this flame graph.
  const FlameAnswer* of = nullptr;
  std::string text;
  bool operator==(const SearchOptions&) const = default;
};

namespace fs = std::filesystem;

std::size_t view_bytes(const ProfileView& view) {
  return view.samples.size() * sizeof(view.samples[0]) + view.frames.size() * (sizeof(Frame) + 64) +
         (view.frame_begin.size() + view.location_frames.size() + view.skip.size()) * 4;
}
std::size_t tree_bytes(const CallTree& tree) {
  return tree.nodes.size() * sizeof(TreeNode);
}
std::size_t layout_bytes(const FlameLayout& layout) {
  return layout.begin.size() * (2 * sizeof(double) + 4);
}

AnswerKey with(AnswerKey base, AnswerOptions options) {
  base.options = std::move(options);
  return base;
}

FlameOptions flame_options(const ViewPosition& position) {
  return {position.flame_direction, position.fold_library, position.value};
}

}  // namespace

void ask_stacks(Answering& asking, Answer<ProfileView> Answers::*member, const Source& of, const MomentName& at,
                const std::shared_ptr<const TraceMoment>& moment, const std::vector<HeapKey>& heaps) {
  const ViewRequest& request = asking.position().request;
  asking.ask(
      member, {of.id, heaps, at, request},
      [profile = of.profile, request, moment, heaps](Work& work) -> Computed<ProfileView> {
        auto view =
            moment && (!request.where.empty() || !heaps.empty())
                ? make_view_of_blocks(*moment->trace, moment->states, request, heaps, &work)
                : make_view(moment ? std::make_shared<const Profile>(profile_from_trace(*moment->trace, moment->states))
                                   : profile,
                            request);
        if (work.cancelled) return Failure(cancelled_error());
        if (!view) return Failure(view.error());
        const std::size_t bytes = view_bytes(*view);
        return {std::make_shared<const ProfileView>(std::move(*view)), bytes};
      });
}

void ask_summary(Answering& asking, const AnswerKey& base) {
  const Source* source = asking.state().find_source(base.source);
  const auto moment = ready_moment(asking.state());
  // Its figures are of the blocks at the same time.
  if (source != nullptr && source->trace && moment == nullptr) return;
  asking.ask(&Answers::summary, base,
             [view = asking.answers().view.value, moment, filter = asking.position().request.where,
              heaps = heaps_in_scope(asking.state())](Work& work) -> Computed<SummaryAnswer> {
               auto answer = std::make_shared<SummaryAnswer>();
               std::vector<HolderRow> holders;
               if (moment != nullptr) {
                 const auto places = find_block_places(*moment->trace, moment->states, filter, heaps, &work);
                 if (work.cancelled) return Failure(cancelled_error());
                 if (!places) return Failure(places.error());
                 const CountsBlock counts = [&](std::size_t stream, const LiveBlock& block) {
                   return (*places)[stream].by_slot[block.slot] == BlockPlace::passes;
                 };
                 answer->categories = compute_category_rows(*moment->trace, moment->states, counts);
                 holders = compute_holder_rows(*moment->trace, moment->states, counts);
               }
               answer->summary = compute_summary(*view);
               answer->user_code = compute_user_code(*view);
               const auto tables = std::make_shared<Document>();
               const TopBase whole = whole_of(*view);
               if (!answer->categories.empty()) tables->add(describe_categories(answer->categories, whole));
               tables->add(describe_arrays(holders));
               answer->names = std::move(holders);
               // A profile has these rows in Top, which stands below the summary.
               if (moment != nullptr && !answer->user_code.empty() && answer->user_code.front().has_place())
                 tables->add(describe_user_code(*view, shared(answer->user_code), whole));
               const auto unit = unit_of_amounts(*view);
               tables->add(with_texts(describe_groups(answer->summary.by_device, "device", "Device", unit, whole), 0,
                                      [](const std::string& name) { return parse_device_name(name).short_text(); }));
               tables->add(describe_groups(answer->summary.by_kind, "kind", "Kind", unit, whole));
               answer->tables = tables;
               const std::size_t bytes = 4096 + answer->user_code.size() * 400 + answer->names.size() * 400;
               return {std::move(answer), bytes};
             });
}

void ask_top(Answering& asking, const AnswerKey& base) {
  asking.ask(&Answers::top, base, [view = asking.answers().view.value](const auto&) -> Computed<TopAnswer> {
    auto top = std::make_shared<TopAnswer>();
    top->view = view;
    top->rows = shared(compute_top(*view));
    top->table = describe_top(*view, top->rows, whole_of(*view));
    const std::size_t bytes = top->rows->size() * sizeof(TopRow);
    return {std::move(top), bytes};
  });
}

void ask_flame(Answering& asking, const AnswerKey& base) {
  const ViewPosition& position = asking.position();
  const FlameOptions options = flame_options(position);
  const auto& baseline = asking.answers().baseline_view;
  const bool is_of_file = position.baseline != SourceId::none && position.baseline != position.source;
  FlameCompared compared{options, nullptr, nullptr};
  if (is_of_file && baseline.state == AnswerState::ready && baseline.key.source == position.baseline)
    compared.baseline = baseline.value;
  if (!is_of_file && !position.pin.empty()) compared.pinned = ready_pinned(asking.state());
  asking.ask(&Answers::flame, with(base, compared),
             [view = asking.answers().view.value, options, compared, where = position.request.where,
              heaps = heaps_in_scope(asking.state())](Work& work) -> Computed<FlameAnswer> {
               const std::atomic<bool>& cancelled = work;
               auto tree = compute_call_tree(*view, options.direction, options.folds_library, &cancelled);
               if (!tree) return Failure(cancelled_error());
               auto flame = std::make_shared<FlameAnswer>();
               flame->view = view;
               flame->tree = std::move(*tree);
               flame->layout = compute_flame_layout(flame->tree, options.value);
               auto other = compared.baseline;
               if (compared.pinned) {
                 ViewRequest request = view->request;
                 request.kept = nullptr;
                 request.where = where;
                 auto made =
                     make_view_of_blocks(*compared.pinned->trace, compared.pinned->states, request, heaps, &work);
                 if (!made) return Failure(made.error());
                 other = std::make_shared<const ProfileView>(std::move(*made));
               }
               if (other) {
                 const auto before = compute_call_tree(*other, options.direction, options.folds_library, &cancelled);
                 if (!before) return Failure(cancelled_error());
                 flame->before = find_same_paths(*view, flame->tree, *other, *before);
               }
               const std::size_t bytes =
                   tree_bytes(flame->tree) + layout_bytes(flame->layout) + flame->before.size() * sizeof(Weight);
               return {std::move(flame), bytes};
             });
}

void ask_search(Answering& asking, const AnswerKey& base) {
  const Answer<FlameAnswer>& flame = asking.answers().flame;
  const std::string& text = asking.position().find;
  if (text.empty() || !flame.value) return asking.forget(&Answers::search);
  if (flame.state != AnswerState::ready) return;  // Hits are node numbers, so the nodes come first.
  asking.ask(&Answers::search, with(base, SearchOptions{flame_options(asking.position()), flame.value.get(), text}),
             [flame = flame.value, text](const auto&) -> Computed<SearchAnswer> {
               auto answer = std::make_shared<SearchAnswer>();
               answer->flame = flame;
               answer->text = text;
               answer->search = search_flame(*flame->view, flame->tree, text);
               return {std::move(answer), flame->tree.nodes.size() / 8};
             });
}

void ask_tree(Answering& asking, const AnswerKey& base) {
  const TreeDirection direction = asking.position().tree_direction;
  asking.ask(
      &Answers::tree, with(base, direction),
      [view = asking.answers().view.value, direction](const std::atomic<bool>& cancelled) -> Computed<TreeAnswer> {
        auto tree = compute_call_tree(*view, direction, false, &cancelled);
        if (!tree) return Failure(cancelled_error());
        auto answer = std::make_shared<TreeAnswer>();
        answer->view = view;
        answer->tree = std::move(*tree);
        const std::size_t bytes = tree_bytes(answer->tree);
        return {std::move(answer), bytes};
      });
}

void ask_detail(Answering& asking, const AnswerKey& base) {
  const FrameIndex frame = asking.state().selected_frame(asking.answers().view.value);
  if (frame == FrameIndex::none) return asking.forget(&Answers::detail);
  asking.ask(&Answers::detail, with(base, asking.position().selection),
             [view = asking.answers().view.value, frame](const auto&) -> Computed<FrameDetail> {
               return {std::make_shared<const FrameDetail>(compute_frame_detail(view, frame)), 65536};
             });
}

void ask_listing(Answering& asking, const AnswerKey& base) {
  const auto& view = asking.answers().view.value;
  const FrameIndex frame = asking.state().selected_frame(view);
  const Source* source = asking.state().source();
  if (frame == FrameIndex::none || source == nullptr) return asking.forget(&Answers::listing);
  FrameKey selected = key_from_frame(view->frames[static_cast<std::size_t>(frame)]);
  if (view->request.by == FrameBy::file && selected.file.empty()) selected.file = selected.function;
  if (view->request.by != FrameBy::line) selected.line = asking.position().selection.line;
  asking.ask(&Answers::listing, with(base, selected),
             [view, selected, path = source->path](const auto&) -> Computed<SourceListing> {
               ViewRequest by_line = view->request;
               by_line.by = FrameBy::line;
               const auto lines = make_view(view->profile, by_line);
               if (!lines) return Failure(lines.error());
               auto listing = read_source_listing(*lines, selected, source_folders(path));
               if (!listing) return Failure(listing.error());
               const std::size_t bytes = listing->lines.size() * 64;
               return {std::make_shared<const SourceListing>(std::move(*listing)), bytes};
             });
}

}  // namespace hbmscope::gui
