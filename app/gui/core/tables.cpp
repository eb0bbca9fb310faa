#include "app/gui/core/tables.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/table_cells.h"

#include "analysis/query/trace_user_code.h"
#include "app/gui/core/span_text.h"

#include <algorithm>
#include <string>

#include "analysis/units/format.h"
#include "app/gui/core/amounts.h"

namespace hbmscope::gui {
namespace {

TableCell amount_cell(const ProfileView& view, std::int64_t amount) {
  return {amount_text(view, amount), std::to_string(amount)};
}

const Frame& frame_of(const ProfileView& view, FrameIndex frame) {
  return view.frames[static_cast<std::size_t>(frame)];
}

std::string name_or(const std::optional<std::string>& name, std::string_view none) {
  return name ? *name : std::string(none);
}

}  // namespace

TextTable table_from_nodes(const ProfileView& view, const CallTree& tree, std::span<const std::uint32_t> nodes) {
  TextTable table;
  table.head = std::string(tree.direction == TreeDirection::callees ? "Stacks from the outermost frame down"
                                                                    : "Stacks from the innermost frame up") +
               "; % " + base_text(view) + ".";
  table.columns = {{"Cumulative", true}, {"%", true}, {"Flat", true}, {"Count", true}, {"Name"}, {"Where"}};
  for (const std::uint32_t index : nodes) {
    const TreeNode& node = tree.nodes[index];
    const bool root = node.frame == FrameIndex::none;
    const std::string indent(2 * static_cast<std::size_t>(node.depth), ' ');
    table.rows.push_back({amount_cell(view, node.cum.bytes), share_cell(node.cum.bytes, view.total.bytes),
                          amount_cell(view, node.flat.bytes), count_cell(node.cum.count),
                          text_cell(indent + (root ? "all" : frame_of(view, node.frame).function)),
                          text_cell(root ? "" : location_text(frame_of(view, node.frame)))});
  }
  return table;
}

std::vector<std::uint32_t> nodes_worth_listing(const CallTree& tree, std::uint32_t root, double smallest_share) {
  std::vector<std::uint32_t> listed;
  if (tree.nodes.empty()) return listed;
  const double smallest = static_cast<double>(tree.nodes[root].cum.bytes) * smallest_share;
  std::vector<std::uint32_t> todo{root};
  while (!todo.empty()) {
    const std::uint32_t index = todo.back();
    todo.pop_back();
    listed.push_back(index);
    const std::size_t first = todo.size();
    for (std::uint32_t child = tree.nodes[index].first_child; child != no_node; child = tree.nodes[child].next_sibling)
      if (static_cast<double>(tree.nodes[child].cum.bytes) >= smallest) todo.push_back(child);
    std::reverse(todo.begin() + static_cast<std::ptrdiff_t>(first), todo.end());
  }
  return listed;
}

TextTable table_from_listing(const SourceListing& listing, const ProfileView& view) {
  TextTable table;
  table.head = listing.path;
  table.columns = {{"Line", true}, {"Flat", true}, {"Cumulative", true}, {"Source"}};
  for (std::size_t i = 0; i < listing.lines.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i) + 1;
    const auto amount = listing.amounts.find(number);
    const bool held = amount != listing.amounts.end();
    table.rows.push_back(
        {text_cell(std::to_string(number)), held ? amount_cell(view, amount->second.flat.bytes) : TableCell{},
         held ? amount_cell(view, amount->second.cum.bytes) : TableCell{}, text_cell(listing.lines[i])});
  }
  return table;
}

TextTable table_from_log(const log::LogExcerpt& log) {
  TextTable table;
  table.head = log.file + " around line " + text_from_count(log.focus);
  table.columns = {{"Line", true}, {"Log"}};
  for (const log::LogExcerpt::Line& line : log.lines)
    table.rows.push_back({text_cell(std::to_string(line.number)), text_cell(line.text)});
  return table;
}

TextTable table_from_timeline(const TimelineColumns& timeline) {
  TextTable table;
  table.columns = {{timeline.has_times ? "Until" : "Until event"}, {"Event", true}};
  const auto add_band = [&table](const char* name) {
    table.columns.push_back({std::string(name) + ", least", true});
    table.columns.push_back({std::string(name) + ", most", true});
  };
  const bool has_heap = !timeline.heap.empty();
  if (has_heap) add_band("In use");
  if (timeline.knows_requested) add_band("Requested");
  if (timeline.knows_regions) add_band("Pool size");
  if (timeline.knows_regions) add_band("Largest free block");
  for (const TimelineHeap& heap : timeline.heaps) add_band((heap.name + ", in use").c_str());
  for (const TimelineCounter& counter : timeline.counters) add_band(counter.name.c_str());
  for (std::size_t i = 0; i < timeline.columns.size(); ++i) {
    const TimelineColumn& column = timeline.columns[i];
    const double end = static_cast<double>(i + 1) / static_cast<double>(timeline.columns.size());
    auto& row = table.rows.emplace_back();
    row.push_back(text_cell(timeline.text_at(end)));
    row.push_back({text_from_count(static_cast<std::int64_t>(column.position)), std::to_string(column.position)});
    const auto add = [&row](const Band& band) {
      for (const std::uint64_t bytes : {band.least, band.most})
        row.push_back({text_from_bytes(static_cast<std::int64_t>(bytes)), std::to_string(bytes)});
    };
    if (has_heap) add(column.in_use);
    if (timeline.knows_requested) add(column.requested);
    if (timeline.knows_regions) add(column.pool);
    if (timeline.knows_regions) add(column.largest_free);
    for (const TimelineHeap& heap : timeline.heaps) add(heap.columns[i]);
    for (const TimelineCounter& counter : timeline.counters)
      for (const std::int64_t value : {counter.columns[i].least, counter.columns[i].most})
        row.push_back(counter.columns[i].is_defined
                          ? TableCell{text_from_counter(counter, value), std::to_string(value)}
                          : text_cell(""));
  }
  return table;
}

TextTable table_from_heap(const HeapMapAnswer& answer) {
  TextTable table;
  table.head = "Heap " + phrase_of(*answer.moment, answer.heap) + ": " + heap_sentence(answer);
  table.columns = {{"Address"}, {"Bytes", true}, {"Rounding", true}, {"State"}, {"Allocated by"}};
  const bool has_change = row_of(answer.spans.coloring).compares_with_pin;
  if (has_change) table.columns.push_back({"Change"});
  const auto change_of = [&](Shade shade) -> std::string_view {
    for (const ShadeEntry& entry : answer.spans.legend)
      if (entry.shade == shade) return entry.name;
    return {};
  };
  const Definitions& definitions = answer.moment->stream(answer.heap).definitions();
  const StreamState& state = answer.moment->state_of(answer.heap);
  const auto bytes_cell = [](std::uint64_t bytes) {
    return TableCell{text_from_bytes(static_cast<std::int64_t>(bytes)), std::to_string(bytes)};
  };
  for (const HeapSpan& span : answer.spans.spans) {
    const bool is_block = span.kind == SpanKind::block;
    const char* const kind = span.kind == SpanKind::free ? "free"
                             : !is_block                 ? "unknown"
                             : span.is_pending           ? "freed, still needed by a stream"
                                                         : "in use";
    table.rows.push_back({text_cell(address_text(span.begin)), bytes_cell(span.size), bytes_cell(span.waste),
                          text_cell(kind),
                          text_cell(is_block ? user_code_text(definitions, state.slots()[span.slot].stack) : "")});
    if (has_change) table.rows.back().push_back(text_cell(is_block ? change_of(span.shade) : ""));
  }
  return table;
}

TextTable table_from_detail(const FrameDetail& detail) {
  const ProfileView& view = *detail.view;
  const Frame& self = frame_of(view, detail.frame);
  TextTable table;
  table.head = self.function + "  " + location_text(self);
  table.columns = {{"What"}, {"Name"}, {amount_title(view), true}, {"%", true}, {"Count", true}};
  const auto add = [&](std::string_view what, std::string_view name, const Weight& weight) {
    table.rows.push_back({text_cell(what), text_cell(name), amount_cell(view, weight.bytes),
                          share_cell(weight.bytes, view.total.bytes), count_cell(weight.count)});
  };
  add("flat", self.function, detail.neighbours.self.flat);
  add("cumulative", self.function, detail.neighbours.self.cum);
  for (const GroupRow& row : detail.by_device) add("device", name_or(row.name, "(unknown device)"), row.weight);
  for (const GroupRow& row : detail.by_kind) add("kind", name_or(row.name, "(unknown kind)"), row.weight);
  const auto add_edges = [&](std::string_view what, const std::vector<TopRow>& edges) {
    for (const TopRow& edge : edges)
      add(what, edge.frame == FrameIndex::none ? "(outermost)" : frame_of(view, edge.frame).function, edge.cum);
  };
  add_edges("caller", detail.neighbours.callers);
  add_edges("callee", detail.neighbours.callees);
  return table;
}

}  // namespace hbmscope::gui
