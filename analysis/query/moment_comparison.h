// The position of one trace that matches a position of another: side-by-side views and `diff --same` compare those two.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/query/chosen_heap.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

enum class SameMoment : std::uint8_t {
  time,      // The same time after the first event; for a source without times, the same number of events.
  requests,  // The same number of requests to the heap, and of frees since the last of them: the same point of one
             // program, whatever its allocator did in between.
};
std::optional<SameMoment> parse_same_moment(std::string_view name);  // "time", "requests"
std::string_view text_from_same_moment(SameMoment same);

// The number of requests to the heap in the first `position` events, out-of-memory errors included. A request that a
// driver refused may be tried again, and does not count. Decodes those events. Nothing if cancelled.
std::optional<std::uint64_t> count_requests(const Stream& stream, std::uint32_t heap, std::uint64_t position,
                                            PassControl* control = nullptr);

struct MatchingMoment {
  std::uint64_t position = 0;
  bool is_short = false;  // The other trace ends before it gets there: `position` is its end.
};
// `position` is one of the stream of `heap`; requests to `heap` are matched with those to `other_heap`. Nothing if
// cancelled.
std::optional<MatchingMoment> find_matching_moment(const Trace& trace, HeapKey heap, std::uint64_t position,
                                                   const Trace& other, HeapKey other_heap, SameMoment same,
                                                   PassControl* control = nullptr);

// The same for many positions at once, ascending, by requests: two passes however many there are.
std::optional<std::vector<MatchingMoment>> find_matching_positions(const Stream& stream, std::uint32_t heap,
                                                                   std::span<const std::uint64_t> positions,
                                                                   const Stream& other, std::uint32_t other_heap,
                                                                   PassControl* control = nullptr);

}  // namespace hbmscope
