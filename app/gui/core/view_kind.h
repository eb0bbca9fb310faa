// The views by name: one table for tabs, `--view`, the menu and Copy as command.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace hbmscope::gui {

enum class ViewKind {
  heap_map,
  timeline,
  address_time,
  failure,
  fragmentation,
  blocks,
  events,
  summary,
  flame,
  top,
  call_tree,
  diff,
  source,
  sizes,
  range,
  compare,
  beside,
  totals,
  import,
  tpu
};

struct ViewName {
  ViewKind kind;
  std::string_view key;     // For --view.
  std::string_view window;  // The tab's text, and the id by which tests find it.
};

inline constexpr std::array<ViewName, 20> view_names{{
    {ViewKind::heap_map, "heap-map", "Heap map"},
    {ViewKind::timeline, "timeline", "Timeline"},
    {ViewKind::address_time, "address-time", "Address x time"},
    {ViewKind::failure, "failure", "Why it failed"},
    {ViewKind::fragmentation, "fragmentation", "Fragmentation"},
    {ViewKind::blocks, "blocks", "Blocks"},
    {ViewKind::events, "events", "Events"},
    {ViewKind::summary, "summary", "Summary"},
    {ViewKind::flame, "flame", "Flame graph"},
    {ViewKind::top, "top", "Top"},
    {ViewKind::call_tree, "tree", "Call tree"},
    {ViewKind::diff, "diff", "Diff"},
    {ViewKind::source, "source", "Source"},
    {ViewKind::sizes, "sizes", "Sizes"},
    {ViewKind::range, "range", "Range"},
    {ViewKind::compare, "compare", "Compare"},
    {ViewKind::beside, "beside", "Beside"},
    {ViewKind::totals, "totals", "Totals"},
    {ViewKind::import, "import", "Import"},
    {ViewKind::tpu, "tpu", "TPU"},
}};

constexpr const ViewName& name_of(ViewKind kind) {
  return view_names[static_cast<std::size_t>(kind)];
}

// Views that a file without addresses can't have.
constexpr bool is_of_trace(ViewKind kind) {
  return kind == ViewKind::heap_map || kind == ViewKind::timeline || kind == ViewKind::address_time ||
         kind == ViewKind::failure || kind == ViewKind::fragmentation || kind == ViewKind::blocks ||
         kind == ViewKind::events || kind == ViewKind::sizes || kind == ViewKind::range || kind == ViewKind::compare ||
         kind == ViewKind::beside || kind == ViewKind::tpu;
}

// Drawn for both sides where there are two; the others are about the active one.
constexpr bool is_side_by_side(ViewKind kind) {
  return kind == ViewKind::heap_map || kind == ViewKind::timeline || kind == ViewKind::address_time ||
         kind == ViewKind::flame;
}

// The tabs below the centre; Summary, Flame graph and Totals are the centre, and of a trace Heap map and Timeline.
constexpr bool is_bottom_tab(ViewKind kind) {
  return kind != ViewKind::summary && kind != ViewKind::flame && kind != ViewKind::totals &&
         kind != ViewKind::heap_map && kind != ViewKind::timeline && kind != ViewKind::address_time;
}

constexpr std::optional<ViewKind> parse_view_kind(std::string_view key) {
  for (const ViewName& name : view_names)
    if (name.key == key || name.window == key) return name.kind;
  return std::nullopt;
}

}  // namespace hbmscope::gui
