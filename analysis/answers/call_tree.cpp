// The stacks as a tree, and the callers and callees of frames.
#include "analysis/query/call_tree.h"

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "analysis/answers/answer_table.h"
#include "analysis/answers/top.h"
#include "analysis/answers/heaps.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

CodeSite place_of_frame(const ProfileView& view, FrameIndex index) {
  return site_of(view.frames[row(index)]);
}

// Depth first: nested objects would make JSON readers recurse as deep as the stacks.
std::vector<std::uint32_t> nodes_in_order(const CallTree& tree) {
  std::vector<std::uint32_t> nodes, todo = {0};
  while (!todo.empty()) {
    const std::uint32_t number = todo.back();
    todo.pop_back();
    nodes.push_back(number);
    const std::size_t first = todo.size();
    for (std::uint32_t child = tree.nodes[number].first_child; child != no_node; child = tree.nodes[child].next_sibling)
      todo.push_back(child);
    std::reverse(todo.begin() + static_cast<std::ptrdiff_t>(first), todo.end());
  }
  return nodes;
}

Table table_of_tree(const ProfileView& view, std::shared_ptr<const CallTree> tree,
                    std::shared_ptr<const std::vector<std::uint32_t>> nodes, const TopBase& base) {
  enum { cum, cum_share, flat, place, number, parent, depth, flat_bytes, cum_count, flat_count };
  const auto node_of = [tree, nodes](std::size_t row) -> const TreeNode& { return tree->nodes[(*nodes)[row]]; };
  const bool is_down = tree->direction == TreeDirection::callees;
  return {.key = "tree",
          .title = fmt::format("{}; % of {}",
                               is_down ? "Call tree, the outermost frame first" : "Bottom up, the innermost frame first",
                               base.words),
          .columns = {{.key = "cum_bytes", .title = "Cumulative", .unit = Unit::amount, .share = 1},
                      {.title = "Cum. %", .unit = Unit::share, .rank = 2, .is_dim = true},
                      {.title = "Flat", .unit = Unit::amount, .rank = 1},
                      {.title = "Function", .unit = Unit::code},
                      {.key = "node", .unit = Unit::count},
                      {.key = "parent", .unit = Unit::count},
                      {.key = "depth", .unit = Unit::count},
                      {.key = "flat_bytes", .unit = Unit::amount},
                      {.key = "cum_count", .unit = Unit::count},
                      {.key = "flat_count", .unit = Unit::count}},
          .rows = {nodes->size(),
                   [&view, node_of, nodes, whole = base.amount](std::size_t row, std::size_t column) -> Value {
                     const TreeNode& node = node_of(row);
                     const bool is_root = (*nodes)[row] == 0;
                     switch (column) {
                       case cum: return node.cum.bytes;
                       case cum_share: return share_value(node.cum.bytes, whole);
                       case flat: return node.flat.bytes == 0 ? Value() : Value(node.flat.bytes);
                       case place: return is_root ? CodeSite{"root"} : place_of_frame(view, node.frame);
                       case number: return std::uint64_t{(*nodes)[row]};
                       case parent: return is_root ? Value() : Value(std::uint64_t{node.parent});
                       case depth: return std::uint64_t{node.depth};
                       case flat_bytes: return node.flat.bytes;
                       case cum_count: return node.cum.count;
                       default: return node.flat.count;
                     }
                   }},
          .amount_unit = std::string(unit_of_amounts(view)),
          .action =
              [&view, node_of](std::size_t row) {
                if (node_of(row).frame == FrameIndex::none) return Action{};
                return Action{.kind = Action::Kind::select_code, .place = place_of_frame(view, node_of(row).frame)};
              },
          .depth = [node_of](std::size_t row) { return std::size_t{node_of(row).depth}; }};
}

// As in pprof: with nodes below half a percent, a tree is unreadable. What is below one of them is hidden, too.
struct ShownNodes {
  std::vector<std::uint32_t> rows;
  std::size_t hidden = 0;  // Branches.
};
ShownNodes nodes_for_readers(const CallTree& tree, const std::vector<std::uint32_t>& nodes, bool shows_all) {
  const std::int64_t smallest = shows_all ? 0 : tree.nodes[0].cum.bytes / 200;
  ShownNodes shown;
  std::uint32_t hidden_below = no_node;  // The depth of the branch that is being left out.
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const TreeNode& node = tree.nodes[nodes[i]];
    if (hidden_below != no_node && node.depth > hidden_below) continue;
    const bool is_hidden = nodes[i] != 0 && node.cum.bytes < smallest;
    hidden_below = is_hidden ? node.depth : no_node;
    if (is_hidden)
      ++shown.hidden;
    else
      shown.rows.push_back(i);
  }
  return shown;
}

template <TreeDirection direction>
Result<Document> describe_tree(const AnswerInput& input) {
  auto tree = std::make_shared<const CallTree>(*compute_call_tree(input.view, direction));
  auto nodes = std::make_shared<const std::vector<std::uint32_t>>(nodes_in_order(*tree));
  const TopBase base = base_of(input.view, input.is_relative);
  ShownNodes shown = nodes_for_readers(*tree, *nodes, input.top == 0);
  Table table = table_of_tree(input.view, tree, nodes, base);
  table.shown = shown.rows.size();
  if (shown.hidden > 0)
    table.foot =
        fmt::format("{} branches below 0.5 % are hidden; --top 0 prints all", text_from_count(shown.hidden));
  Document document;
  add_table(document, std::move(table), std::move(shown.rows));
  return document;
}

// The frames whose function matches --peek, largest first.
Result<std::vector<Neighbours>> find_peeked(const AnswerInput& input) {
  const std::string& expression = input.flags.find("--peek")->second;
  // A view that focuses on the expression compiles it, so the same rules apply to all expressions.
  ViewRequest request = input.view.request;
  request.show = expression;
  request.where.clear();
  auto matching = make_view(input.view.profile, request);
  if (!matching) return Failure(matching.error());
  const auto key = [](const Frame& frame) { return std::tie(frame.function, frame.file, frame.line); };
  std::set<std::tuple<std::string, std::string, std::int64_t>> names;
  for (const Frame& frame : matching->frames) names.emplace(frame.function, frame.file, frame.line);
  std::vector<Neighbours> found;
  for (const TopRow& top : compute_top(input.view, TopOrder::cum_bytes)) {
    if (names.count(key(input.view.frames[row(top.frame)])) > 0)
      found.push_back(compute_neighbours(input.view, top.frame));
    if (input.top != 0 && found.size() == input.top) break;
  }
  if (found.empty())
    return Failure(refusal(fmt::format("no frame matches '{}'", expression), "Try a part of the name of a function."));
  return found;
}

Table table_of_edges(const ProfileView& view, const Neighbours& neighbours, const std::vector<TopRow>& edges,
                     std::string key, std::string title) {
  std::vector<std::vector<Value>> cells;
  for (const TopRow& edge : edges)
    cells.push_back({edge.cum.bytes, share_value(edge.cum.bytes, neighbours.self.cum.bytes), edge.cum.count,
                     place_of_frame(view, edge.frame), edge.cum.unknown});
  return {.key = std::move(key),
          .title = std::move(title),
          .columns = {{.key = "bytes", .title = "Cumulative", .unit = Unit::amount, .share = 1},
                      {.title = "Share", .unit = Unit::share, .rank = 1, .is_dim = true},
                      {.key = "count", .title = "Count", .unit = Unit::count, .rank = 2},
                      {.title = "Function", .unit = Unit::code},
                      {.key = "unknown_count", .unit = Unit::count}},
          .rows = std::move(cells),
          .amount_unit = std::string(unit_of_amounts(view)),
          .shown = edges.size()};
}

Result<Document> describe_peek(const AnswerInput& input) {
  const auto peeked = find_peeked(input);
  if (!peeked) return Failure(peeked.error());
  const ProfileView& view = input.view;
  const std::string unit(unit_of_amounts(view));
  Documents list{.key = "peek", .audience = Audience::everyone};
  for (const Neighbours& one : *peeked) {
    const CodeSite place = place_of_frame(view, one.self.frame);
    const TopRow& self = one.self;
    Document& frame = list.list.emplace_back(Document{.title = text_from_value(Value(place), Unit::code)});
    frame.add(Figures{{{"name", place.function},
                       {"file", value_of(place.file)},
                       {"line", place.line == 0 ? Value() : Value(place.line), Unit::count},
                       {"flat_bytes", self.flat.bytes, Unit::amount},
                       {"cum_bytes", self.cum.bytes, Unit::amount},
                       {"flat_count", self.flat.count, Unit::count},
                       {"cum_count", self.cum.count, Unit::count},
                       {"flat_unknown_count", self.flat.unknown, Unit::count},
                       {"cum_unknown_count", self.cum.unknown, Unit::count}}});
    frame.add(Sentence{.text = fmt::format("Cumulative {} ({}) in {}, flat {}.",
                                           text_from_value(self.cum.bytes, unit),
                                           text_from_share(self.cum.bytes, view.total.bytes),
                                           text_from_count(self.cum.count), text_from_value(self.flat.bytes, unit))});
    frame.add(table_of_edges(view, one, one.callers, "callers", "Callers"));
    frame.add(table_of_edges(view, one, one.callees, "callees", "Callees"));
  }
  Document document;
  document.add(std::move(list));
  return document;
}

}  // namespace

constinit const AnswerRow tree_answer{
    .name = "tree",
    .title = "Call tree",
    .help = "The call tree from the outermost frame down",
    .flag = "--tree",
    .placement = Placement::instead_of_rows,
    .key = "tree",
    .view = "tree",
    .describe = describe_tree<TreeDirection::callees>,
};
constinit const AnswerRow bottom_up_answer{
    .name = "bottom_up",
    .title = "Bottom up",
    .help = "The call tree from the innermost frame up",
    .flag = "--bottom-up",
    .placement = Placement::instead_of_rows,
    .key = "tree",
    .view = "tree",
    .describe = describe_tree<TreeDirection::callers>,
};
constinit const AnswerRow peek_answer{
    .name = "peek",
    .title = "Peek",
    .help = "Callers and callees of matching functions",
    .flag = "--peek",
    .value_name = "REGEX",
    .placement = Placement::instead_of_rows,
    .describe = describe_peek,
};

}  // namespace hbmscope
