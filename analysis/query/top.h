// The frames that hold the most, counted as `go tool pprof -top` does: flat is what a frame allocated itself (it is the
// innermost one), cumulative includes everything below it. A recursive frame counts once per stack.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/query/profile_view.h"

namespace hbmscope {

struct TopRow {
  FrameIndex frame = FrameIndex::none;
  Weight flat, cum;
};

enum class TopOrder { flat_bytes, cum_bytes, flat_count, cum_count };

// All frames of the view, largest first; equal ones by name, so that the output is stable. Only the first `sorted` rows
// are in order; the rest follow in any order.
std::vector<TopRow> compute_top(const ProfileView& view, TopOrder order = TopOrder::flat_bytes,
                                std::size_t sorted = static_cast<std::size_t>(-1));

// Callers and callees of one frame, as in `pprof -peek`: how much of `frame` came through each caller, and how much of
// it went into each callee. Largest first. A frame that calls itself appears in both lists.
struct Neighbours {
  TopRow self;
  std::vector<TopRow> callers, callees;  // `flat` is unused; `cum` is the weight of the edge.
};
Neighbours compute_neighbours(const ProfileView& view, FrameIndex frame);

}  // namespace hbmscope
