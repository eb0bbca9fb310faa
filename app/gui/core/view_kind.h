// The list of views, one word each. A view's title, conditions and place are in row.h in its folder (view_row.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmscope::gui {

// X(name), in the order of the tabs.
#define HBMSCOPE_VIEWS(X) \
  X(heap_map)             \
  X(address_time)         \
  X(timeline)             \
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
  X(diff)                 \
  X(source)               \
  X(totals)               \
  X(import)

enum class ViewKind : std::uint8_t {
#define X(name) name,
  HBMSCOPE_VIEWS(X)
#undef X
};

#define X(name) +1
inline constexpr std::size_t view_count = 0 HBMSCOPE_VIEWS(X);
#undef X

}  // namespace hbmscope::gui
