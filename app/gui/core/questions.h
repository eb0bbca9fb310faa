// What each question depends on and how its answer is computed. All functions act on the bound context, and do nothing
// while something that they need is missing.
#pragma once

#include "analysis/answers/failure.h"
#include "app/gui/core/answering.h"

namespace hbmscope::gui {

// For all contexts: starts the questions of this frame. True if something visible changed at once.
bool ask_what_is_missing(Answering& asking);

// ask_profile.cpp: questions about stacks. `base` names the view that they refer to.
// ask_stacks: the filtered samples; of these heaps only, if any are given. `moment` is a time of a trace; null: the
// live blocks at the end, which were computed while reading.
void ask_stacks(Answering& asking, Answer<ProfileView> Answers::*member, const Source& of, const MomentName& at,
                const std::shared_ptr<const TraceMoment>& moment, const std::vector<HeapKey>& heaps = {});
void ask_summary(Answering& asking, const AnswerKey& base);
void ask_top(Answering& asking, const AnswerKey& base);
void ask_flame(Answering& asking, const AnswerKey& base);
void ask_search(Answering& asking, const AnswerKey& base);
void ask_tree(Answering& asking, const AnswerKey& base);
void ask_detail(Answering& asking, const AnswerKey& base);
void ask_listing(Answering& asking, const AnswerKey& base);

// ask_files.cpp: questions about two files, about all of them, or about the text of one.
void ask_log_lines(Answering& asking);
void ask_baseline(Answering& asking);
void ask_diff(Answering& asking, const AnswerKey& base);
void ask_series(Answering& asking, const AnswerKey& base);

// ask_headline.cpp: what the answer bar says.
void ask_headline(Answering& asking);

// ask_colors.cpp: which colours the trace's names have, and how the bytes in use divide into them over time.
void ask_colors(Answering& asking);
void ask_stack(Answering& asking, HeapKey heap);

// ask_trace.cpp: live blocks at the selected time, and where they lie.
void ask_moment(Answering& asking);
void ask_pinned(Answering& asking);
void ask_baseline_moment(Answering& asking, const Source& baseline, const MomentName& at);
void ask_compare(Answering& asking);
void ask_side_by_side(Answering& asking);
void ask_heap_map(Answering& asking);

// ask_what_if.cpp: what would have happened under other settings.
void ask_what_if(Answering& asking);

// ask_filter.cpp: what the filter line offers.
void ask_filter_values(Answering& asking);

// ask_course.cpp: how the heap got there.
void ask_timeline(Answering& asking);
void ask_steps(Answering& asking, HeapKey heap);
void ask_address_time(Answering& asking);
void ask_range(Answering& asking);
void ask_free(Answering& asking);
void ask_free_history(Answering& asking);
void ask_pool_costs(Answering& asking);
void ask_failure(Answering& asking);
// The heap's out-of-memory at the position, else the last one before it, else the first one; its index among the
// stream's failures.
std::optional<std::size_t> find_failure(const Stream& stream, std::uint32_t heap, std::uint64_t position);
// Its number among those of its heap.
FailureNumber number_of_failure(const Stream& stream, std::size_t index);
void ask_sizes(Answering& asking);

// ask_blocks.cpp: single blocks.
void ask_blocks(Answering& asking);
void ask_frames_blocks(Answering& asking);
void ask_address(Answering& asking);
void ask_events(Answering& asking);

}  // namespace hbmscope::gui
