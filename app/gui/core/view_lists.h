// The lists that a new view extends by its name and, if it asks a question that no other view asks, by that question.
// Everything else about a view is in its folder (views/README.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace hbmscope::gui {

// X(name), in the order of the tabs.
#define HBMSCOPE_VIEWS(X) \
  X(heap_map)             \
  X(timeline)             \
  X(address_time)         \
  X(tpu)                  \
  X(failure)              \
  X(what_if)              \
  X(side_by_side)         \
  X(fragmentation)        \
  X(range)                \
  X(compare)              \
  X(top)                  \
  X(flame)                \
  X(blocks)               \
  X(sizes)                \
  X(events)               \
  X(summary)              \
  X(call_tree)            \
  X(tables)               \
  X(diff)                 \
  X(source)               \
  X(totals)               \
  X(import)

// The questions that views ask. X(type, name, phrase): ask_NAME(), declared in questions.h, computes Answers::NAME, a
// value of the type; the phrase is what the user calls it. `struct` declares a type that is defined elsewhere. A frame
// starts its questions in this order, since some use the answers to earlier ones.
#define HBMSCOPE_QUESTIONS(X)                                                    \
  X(struct HeadlineAnswer, headline, "the answer")                               \
  X(struct HeapMapAnswer, heap_map, "the heap map")                              \
  X(struct TimelineColumns, timeline, "the timeline")                            \
  X(struct AddressTime, address_time, "addresses over time")                     \
  X(struct RangeAnswer, range, "the range")                                      \
  X(struct FreeAnswer, free, "free memory")                                      \
  X(FreeHistory, free_history, "the history of fragmentation")                   \
  X(struct PoolCostsAnswer, pool_costs, "what the pool costs")                   \
  X(struct PoolCostsAnswer, pool_costs_here, "what the pool costs at this time") \
  X(struct FailureAnswer, failure, "why it failed")                              \
  X(struct WhatIfAnswer, what_if, "the replays under other settings")            \
  X(struct SizesAnswer, sizes, "sizes and lifetimes")                            \
  X(struct CompareAnswer, compare, "the changes")                                \
  X(struct SideBySideAnswer, side_by_side, "the differences between the sides")  \
  X(struct BlocksAnswer, blocks, "the table of blocks")                          \
  X(struct AddressAnswer, address, "the history of the address")                 \
  X(struct EventsAnswer, events, "the events")                                   \
  X(log::LogExcerpt, log_lines, "the log")                                       \
  X(FilterValues, filter_values, "the values for the filter")

// The same for questions about stacks. They begin after those above, once Answers::view is known, and get its key.
#define HBMSCOPE_STACK_QUESTIONS(X)               \
  X(struct SummaryAnswer, summary, "the summary") \
  X(struct TopAnswer, top, "the top table")       \
  X(struct FlameAnswer, flame, "the flame graph") \
  X(struct SearchAnswer, search, "the search")    \
  X(struct TreeAnswer, tree, "the call tree")     \
  X(struct TableAnswer, table, "the table")       \
  X(struct FrameDetail, detail, "the selection")  \
  X(ProfileDiff, diff, "the differences")         \
  X(struct SourceListing, listing, "the source")  \
  X(struct SeriesAnswer, series, "the totals")

// Answers that the questions above are made from, or that are computed with them. X(type, name, phrase). `moment`,
// `pinned`, `baseline_moment` and `settings` exist for traces only; `color_ranks` led to Context::colors;
// `frames_blocks` pass the filter and were allocated through the selected frame; `overlay` is what find_overlay() says;
// `device_stacks` are for the view of all devices; `timeline_part`, `stack_part` and `stack_blocks` are of the visible
// span, `timeline`, `stack` and `tier_stacks` of the whole trace.
#define HBMSCOPE_OTHER_ANSWERS(X)                                           \
  X(struct TraceMoment, moment, "the current time")                         \
  X(struct TraceMoment, pinned, "the pinned time")                          \
  X(struct TraceMoment, baseline_moment, "the time of the baseline")        \
  X(ProfileView, view, "the stacks")                                        \
  X(ProfileView, baseline_view, "the stacks of the baseline")               \
  X(std::vector<SettingChange>, settings, "the settings of both jobs")      \
  X(struct ColorRanks, color_ranks, "the colours")                          \
  X(struct LiveAnswer, live_blocks, "the blocks")                           \
  X(struct BlocksAnswer, frames_blocks, "the blocks of the selected frame") \
  X(struct TimelineColumns, timeline_part, "the span of the timeline")      \
  X(struct TimelineColumns, overlay, "what is laid over the timeline")      \
  X(class StackCourse, stack, "memory over time by colour")                 \
  X(class StackCourse, stack_part, "the span of memory over time")          \
  X(struct TierStacks, tier_stacks, "the other memories over time")         \
  X(struct DeviceStacks, device_stacks, "all devices over time")            \
  X(class StackBlocks, stack_blocks, "blocks over time")                    \
  X(struct NamesAnswer, names, "the names of blocks")                       \
  X(struct TraceSteps, steps, "the steps")

#define HBMSCOPE_ANSWERS(X) HBMSCOPE_OTHER_ANSWERS(X) HBMSCOPE_QUESTIONS(X) HBMSCOPE_STACK_QUESTIONS(X)

enum class ViewKind : std::uint8_t {
#define X(name) name,
  HBMSCOPE_VIEWS(X)
#undef X
};

#define X(name) +1
inline constexpr std::size_t view_count = 0 HBMSCOPE_VIEWS(X);
#undef X

// Only the questions of the current frame that have no answer yet are computed.
enum class Question : std::uint8_t {
#define X(type, name, phrase) name,
  HBMSCOPE_QUESTIONS(X) HBMSCOPE_STACK_QUESTIONS(X)
#undef X
      lifetimes,  // Makes Answers::live_blocks say when each block will be freed.
  count_
};

// A set of questions.
struct QuestionSet {
  constexpr QuestionSet() = default;
  constexpr QuestionSet(std::initializer_list<Question> questions) {
    for (const Question question : questions) add(question);
  }
  constexpr void add(Question question) { bits |= bit_of(question); }
  constexpr bool has(Question question) const { return (bits & bit_of(question)) != 0; }
  friend constexpr bool operator==(const QuestionSet&, const QuestionSet&) = default;

  static_assert(static_cast<unsigned>(Question::count_) <= 64);
  static constexpr std::uint64_t bit_of(Question question) {
    return std::uint64_t{1} << static_cast<unsigned>(question);
  }
  std::uint64_t bits = 0;
};

}  // namespace hbmscope::gui
