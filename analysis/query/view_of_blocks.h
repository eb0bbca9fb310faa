// The stacks of the blocks of a trace that pass a filter of blocks (block_list.h), which may ask for what no sample of
// a profile has: an age, an address, a tag, a line of your code.
#pragma once

#include <string>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/query/chosen_heap.h"
#include "analysis/query/profile_view.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/profile_from_trace.h"

namespace hbmscope {

// By stream: which blocks are in `heaps` (empty: in any) and pass the filter (empty: all do). Error: it is no filter of
// blocks, or the pass was cancelled.
Result<std::vector<BlockPlaces>> find_block_places(const Trace& trace, const std::vector<StreamState>& states,
                                                   const std::string& filter, const std::vector<HeapKey>& heaps,
                                                   PassControl* control = nullptr);

// `request.where` is the filter of blocks. `states`: one per stream, at the time that is asked for. The view contains
// the other blocks of `heaps`, too, as a filtered profile does.
Result<ProfileView> make_view_of_blocks(const Trace& trace, const std::vector<StreamState>& states, ViewRequest request,
                                        const std::vector<HeapKey>& heaps, PassControl* control = nullptr);

}  // namespace hbmscope
