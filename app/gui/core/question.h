// The questions that the views on screen ask. What is asked in a frame and has no answer yet is computed; nothing else
// is.
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
  heap_map,
  timeline,
  range,
  free,
  free_history,
  failure,
  sizes,
  address_time,
  blocks,
  lifetimes,  // Of the blocks: when each will be released.
  address,
  events,
  compare,
  beside,
  count_
};

}  // namespace hbmscope::gui
