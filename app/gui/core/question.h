// The questions that visible views ask. Only those of the current frame that have no answer yet are computed.
#pragma once

#include <cstdint>

namespace hbmscope::gui {

enum class Question : std::uint8_t {
  summary,
  top,
  flame,
  search,
  tree,
  detail,
  diff,
  listing,
  series,
  headline,
  heap_map,
  timeline,
  range,
  free,
  free_history,
  pool_costs,
  failure,
  what_if,
  sizes,
  address_time,
  blocks,
  lifetimes,  // When each live block will be freed.
  address,
  events,
  compare,
  side_by_side,
  filter_values,
  count_
};

}  // namespace hbmscope::gui
