#include "analysis/query/view_of_blocks.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "analysis/query/block_find.h"
#include "analysis/query/block_list.h"

namespace hbmscope {

Result<std::vector<BlockPlaces>> find_block_places(const Trace& trace, const std::vector<StreamState>& states,
                                                   const std::string& filter, const std::vector<HeapKey>& heaps,
                                                   PassControl* control) {
  const auto is_in = [&](std::uint32_t stream, std::uint32_t heap) {
    return heaps.empty() || std::find(heaps.begin(), heaps.end(), HeapKey{stream, heap}) != heaps.end();
  };
  const BlockPlace at_first = filter.empty() ? BlockPlace::passes : BlockPlace::fails;
  std::vector<BlockPlaces> all(states.size());
  for (std::uint32_t stream = 0; stream < all.size(); ++stream) {
    const StreamState& state = states[stream];
    all[stream].by_slot.assign(state.slot_count(), at_first);
    for (const LiveBlock& block : state.slots())
      if (!is_in(stream, block.heap)) all[stream].by_slot[block.slot] = BlockPlace::left_out;
    const std::size_t heap_count = trace.streams[stream].definitions().heaps().size();
    for (std::uint32_t heap = 0; heap < heap_count; ++heap)
      all[stream].of_handles.push_back(is_in(stream, heap) ? at_first : BlockPlace::left_out);
  }
  if (filter.empty()) return all;
  const BlockQuery query{where_from_find(filter)};
  const auto live = collect_live_rows(trace, states, needs_ends(trace, query), control);
  if (!live) return Failure(refusal("the search for blocks was cancelled", {}));
  const auto list = compute_block_list(trace, states, *live, query, control == nullptr ? nullptr : &control->cancelled);
  if (!list) return Failure(list.error());
  for (const std::uint32_t row : list->rows) {
    BlockPlace& place = all[live->rows[row].stream].by_slot[live->rows[row].slot];
    if (place == BlockPlace::fails) place = BlockPlace::passes;
  }
  return all;
}

Result<ProfileView> make_view_of_blocks(const Trace& trace, const std::vector<StreamState>& states, ViewRequest request,
                                        const std::vector<HeapKey>& heaps, PassControl* control) {
  const auto places = find_block_places(trace, states, request.where, heaps, control);
  if (!places) return Failure(places.error());
  std::vector<bool> kept;
  auto profile = std::make_shared<const Profile>(profile_from_trace(trace, states, *places, kept));
  request.where.clear();
  request.kept = std::make_shared<const std::vector<bool>>(std::move(kept));
  return make_view(std::move(profile), request);
}

}  // namespace hbmscope
