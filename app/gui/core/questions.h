// How each answer is computed and what it depends on. All functions act on the bound context, and do nothing while
// something that they need is missing.
#pragma once

#include "analysis/answers/failure.h"
#include "app/gui/core/answering.h"

namespace hbmscope::gui {

// For all contexts: starts the questions of this frame. True if something visible changed at once.
bool ask_what_is_missing(Answering& asking);

// The questions of views: ask_NAME(). A question that only one view asks may be defined in the view's folder.
#define X(type, name, phrase) void ask_##name(Answering& asking);
HBMSCOPE_QUESTIONS(X)
#undef X
// `base` names the view of the stacks that the answer refers to.
#define X(type, name, phrase) void ask_##name(Answering& asking, const AnswerKey& base);
HBMSCOPE_STACK_QUESTIONS(X)
#undef X

// ask_profile.cpp: the filtered samples; of these heaps only, if any are given. `moment` is a time of a trace; null:
// the live blocks at the end, which were computed while reading.
void ask_stacks(Answering& asking, Answer<ProfileView> Answers::*member, const Source& of, const MomentName& at,
                const std::shared_ptr<const TraceMoment>& moment, const std::vector<HeapKey>& heaps = {});

// ask_files.cpp: the stacks and the time of the baseline.
void ask_baseline(Answering& asking);

// ask_colors.cpp: which colours the trace's names have, and how the bytes in use divide into them over time.
void ask_colors(Answering& asking);
void ask_stack(Answering& asking, HeapKey heap);

// ask_trace.cpp: live blocks at the selected time.
void ask_moment(Answering& asking);
void ask_pinned(Answering& asking);
void ask_baseline_moment(Answering& asking, const Source& baseline, const MomentName& at);

// ask_blocks.cpp
void ask_frames_blocks(Answering& asking);
void ask_names(Answering& asking);

// ask_course.cpp
// The heap's out-of-memory at the position, else the last one before it, else the first one; its index among the
// stream's failures.
std::optional<std::size_t> find_failure(const Stream& stream, std::uint32_t heap, std::uint64_t position);
// Its number among those of its heap.
FailureNumber number_of_failure(const Stream& stream, std::size_t index);

}  // namespace hbmscope::gui
