// The frames that hold the most, as `go tool pprof -top` counts: flat is what a frame allocated itself (it is the
// innermost one), cumulative what it and everything below it did; a frame that recurs in a stack counts once.
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

// All frames of the view, largest first; equal ones in the order of their names, so that output is stable.
// `sorted`: how many are needed in order; the rows behind them follow in no particular one.
std::vector<TopRow> compute_top(const ProfileView& view, TopOrder order = TopOrder::flat_bytes,
                                std::size_t sorted = static_cast<std::size_t>(-1));

// Callers and callees of one frame, as `pprof -peek` shows them: how much of `frame` came through each caller, and
// how much of it went on into each callee. Largest first. A frame that calls itself appears in both lists.
struct Neighbours {
  TopRow self;
  std::vector<TopRow> callers, callees;  // `flat` is unused; `cum` is what passes over that edge.
};
Neighbours compute_neighbours(const ProfileView& view, FrameIndex frame);

}  // namespace hbmscope
