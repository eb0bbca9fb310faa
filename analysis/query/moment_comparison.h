// Where one trace stood when another one stood at a position: what side by side views and `diff --same` compare.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/query/chosen_heap.h"
#include "analysis/trace/pass.h"

namespace hbmscope {

enum class SameMoment : std::uint8_t {
  time,      // As long after the first event. Where a source has no times: after as many events.
  requests,  // After as many requests to the heap, and as many frees since the last of them: the same point of one
             // program, whatever its allocator did between.
};
std::optional<SameMoment> parse_same_moment(std::string_view name);  // "time", "requests"
std::string_view text_from_same_moment(SameMoment same);

// Blocks that the heap gave among the first `position` events, and requests that ended as an out-of-memory; what a
// driver refused may have been tried again, and does not count. Costs decoding those events. Nothing where cancelled.
std::optional<std::uint64_t> count_requests(const Stream& stream, std::uint32_t heap, std::uint64_t position,
                                            PassControl* control = nullptr);

struct MomentBeside {
  std::uint64_t position = 0;
  bool is_short = false;  // The other trace ends before it comes so far: `position` is its end.
};
// `position`: of the stream of `heap`, whose requests count, as those of `other_heap` do. Nothing where cancelled.
std::optional<MomentBeside> find_moment_beside(const Trace& trace, HeapKey heap, std::uint64_t position,
                                               const Trace& other, HeapKey other_heap, SameMoment same,
                                               PassControl* control = nullptr);

}  // namespace hbmscope
