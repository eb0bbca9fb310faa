// The report sections about samples: rows, your code, call trees, callers and callees, and the import.
#include <algorithm>
#include <set>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/answers/top.h"
#include "analysis/document/json.h"
#include "analysis/read/source/read_source.h"
#include "analysis/write/json.h"
#include "app/cli/options.h"
#include "app/cli/report_section.h"
#include "app/cli/report_text.h"

namespace hbmscope::cli {
namespace {

using Json = nlohmann::ordered_json;

TopOrder order_of(const ReportOptions& options) {
  if (options.by_count) return options.cumulative ? TopOrder::cum_count : TopOrder::flat_count;
  return options.cumulative ? TopOrder::cum_bytes : TopOrder::flat_bytes;
}
std::size_t rows_wanted(const ReportOptions& options) {
  return options.top == 0 ? static_cast<std::size_t>(-1) : options.top;
}

// Both walk all stacks; running them in parallel takes the time of one.
std::pair<std::vector<UserCodeRow>, std::vector<TopRow>> user_code_and_top(const ReportInput& input) {
  std::vector<UserCodeRow> own;
  const auto find_own = [&] { own = compute_user_code(input.view); };
  std::thread other;
  try {
    other = std::thread(find_own);
  } catch (const std::system_error&) {  // A container may limit the number of threads.
    find_own();
  }
  std::vector<TopRow> top = compute_top(input.view, order_of(input.options), rows_wanted(input.options));
  if (other.joinable()) other.join();
  return {std::move(own), std::move(top)};
}

Result<std::string> rows_text(const ReportInput& input, const ReportStyle& style) {
  if (const std::string key = label_key_of(input.options.by); !key.empty())
    return text_from_groups(compute_groups(input.view, key), key, style);
  auto [own_rows, top_rows] = user_code_and_top(input);
  const TopBase base{style.whole, style.whole_text};
  std::string text;
  if (!own_rows.empty() && own_rows.front().has_place()) {
    Table own = describe_user_code(input.view, shared(std::move(own_rows)), base);
    own.shown = input.options.own == 0 ? own.rows.size() : input.options.own;
    own.how_to_show_more = "--own 0 prints all";
    text = text_from_table(own, style.terminal.style()) + "\n";
  }
  Table top = describe_top(input.view, shared(std::move(top_rows)), base);
  top.shown = style.top == 0 ? top.rows.size() : style.top;
  top.how_to_show_more = "--top 0 prints all";
  return text + text_from_table(top, style.terminal.style());
}

Result<void> add_rows(Json& json, const ReportInput& input) {
  json["by"] = input.options.by;
  const TopBase base = whole_of(input.view);
  const std::string key = label_key_of(input.options.by);
  if (key.empty())
    json["rows"] = json_from_table(
        describe_top(input.view, shared(compute_top(input.view, order_of(input.options), rows_wanted(input.options))),
                     base),
        rows_wanted(input.options));
  else
    json["rows"] = json_from_group_rows(compute_groups(input.view, key));
  const std::size_t own = input.options.own == 0 ? static_cast<std::size_t>(-1) : input.options.own;
  json["own_code"] = json_from_table(describe_user_code(input.view, shared(compute_user_code(input.view)), base), own);
  return {};
}

template <TreeDirection direction>
Result<std::string> tree_text(const ReportInput& input, const ReportStyle& style) {
  return text_from_tree(input.view, *compute_call_tree(input.view, direction), style);
}
template <TreeDirection direction>
Result<void> add_tree(Json& json, const ReportInput& input) {
  json["tree"] = json_from_call_tree(input.view, *compute_call_tree(input.view, direction));
  return {};
}

// The frames whose function matches --peek, largest first.
Result<std::vector<Neighbours>> find_peeked(const ReportInput& input) {
  const std::string& expression = input.options.section.find("--peek")->second;
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
    if (input.options.top != 0 && found.size() == input.options.top) break;
  }
  if (found.empty())
    return Failure(refusal(fmt::format("no frame matches '{}'", expression), "Try a part of the name of a function."));
  return found;
}

Result<std::string> peek_text(const ReportInput& input, const ReportStyle& style) {
  const auto peeked = find_peeked(input);
  if (!peeked) return Failure(peeked.error());
  std::string text;
  for (const Neighbours& neighbours : *peeked) text += text_from_neighbours(input.view, neighbours, style) + "\n";
  return text;
}

Result<void> add_peek(Json& json, const ReportInput& input) {
  const auto peeked = find_peeked(input);
  if (!peeked) return Failure(peeked.error());
  for (const Neighbours& neighbours : *peeked) json["peek"].push_back(json_from_neighbours(input.view, neighbours));
  return {};
}

Result<std::string> import_text(const ReportInput& input, const ReportStyle& style) {
  return text_from_import_badge(input.view.profile->import, style.terminal);
}

}  // namespace

ReportSection import_section() {
  return {.name = "import", .text = import_text};  // The JSON of a view contains it.
}

ReportSection rows_section() {
  return {.name = "rows", .text = rows_text, .add_json = add_rows};
}

ReportSection tree_section() {
  return {.name = "tree",
          .flag = "--tree",
          .help = "Print the call tree from the outermost frame down, instead of rows",
          .replaces_rows = true,
          .text = tree_text<TreeDirection::callees>,
          .add_json = add_tree<TreeDirection::callees>};
}

ReportSection bottom_up_section() {
  return {.name = "tree",
          .flag = "--bottom-up",
          .help = "Print the call tree from the innermost frame up, instead of rows",
          .replaces_rows = true,
          .text = tree_text<TreeDirection::callers>,
          .add_json = add_tree<TreeDirection::callers>};
}

ReportSection peek_section() {
  return {.name = "peek",
          .flag = "--peek",
          .value_name = "REGEX",
          .help = "Print callers and callees of matching functions, instead of rows",
          .replaces_rows = true,
          .text = peek_text,
          .add_json = add_peek};
}

}  // namespace hbmscope::cli
