// What holds the most in a report: your code, and frames or groups.

#include "analysis/answers/answer_table.h"
#include "analysis/answers/summary.h"
#include "analysis/answers/top.h"
#include "analysis/query/log_headline.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

Result<Document> describe_own_code(const AnswerInput& input) {
  auto rows = shared(compute_user_code(input.view));
  const bool has_places = !rows->empty() && rows->front().has_place();
  Table table = describe_user_code(input.view, std::move(rows), base_of(input.view, input.is_relative));
  // Programs get only the rows that a reader sees.
  limit_rows(table, input.own, "--own 0 prints all", input.is_for(Audience::programs));
  if (!input.wants_frames) table.foot = "--by function prints the frames";
  // Groups are of all code, and without a line of yours there is nothing to read.
  if (!has_places || !input.label.empty()) table.audience = Audience::programs;
  Document document;
  document.add(std::move(table));
  return document;
}

// Samples by a label: in the keys of frames.
Table table_of_groups(const AnswerInput& input) {
  const std::vector<GroupRow> rows = compute_groups(input.view, input.label);
  const TopBase base = base_of(input.view, input.is_relative);
  std::vector<std::vector<Value>> cells;
  for (const GroupRow& row : rows) {
    const Weight& weight = row.weight;
    cells.push_back({std::string(row.name ? *row.name : "(unknown)"), row.name ? Value(*row.name) : Value(), Value(),
                     Value(), weight.bytes, share_value(weight.bytes, base.amount), weight.bytes, weight.count,
                     weight.count, weight.unknown == 0 ? Value() : Value(weight.unknown), weight.unknown,
                     weight.unknown});
  }
  return {.key = "rows",
          .title = "By " + input.by + "; % of " + base.words,
          .columns = {{.title = "Name"},
                      {.key = "name"},
                      {.key = "file"},
                      {.key = "line", .unit = Unit::count},
                      {.key = "flat_bytes", .title = "Bytes", .unit = Unit::amount, .share = 1},
                      {.title = "Share", .unit = Unit::share},
                      {.key = "cum_bytes", .unit = Unit::amount},
                      {.key = "flat_count", .title = "Count", .unit = Unit::count},
                      {.key = "cum_count", .unit = Unit::count},
                      {.title = "Of unknown size", .unit = Unit::count},
                      {.key = "flat_unknown_count", .unit = Unit::count},
                      {.key = "cum_unknown_count", .unit = Unit::count}},
          .rows = std::move(cells),
          .layout = Layout::bars,
          .amount_unit = std::string(unit_of_amounts(input.view))};
}

Result<Document> describe_rows(const AnswerInput& input) {
  Document document;
  document.add(Figures{{{"by", input.by}}});
  if (!input.label.empty()) {
    Table groups = table_of_groups(input);
    const bool shows_all = input.label == "device" || input.label == "kind";
    limit_rows(groups, shows_all ? 0 : input.top, "--top 0 prints all", false);
    document.add(std::move(groups));
    return document;
  }
  const std::size_t sorted = input.top == 0 ? static_cast<std::size_t>(-1) : input.top;
  Table table = describe_top(input.view, shared(compute_top(input.view, input.order, sorted)),
                             base_of(input.view, input.is_relative));
  limit_rows(table, input.top, "--top 0 prints all", input.is_for(Audience::programs));
  if (input.trace != nullptr && is_of_log(*input.trace) && input.view.frames.empty())
    table.audience = Audience::programs;
  if (!input.wants_frames && input.is_for(Audience::readers)) {
    const auto own = compute_user_code(input.view);
    if (!own.empty() && own.front().has_place()) table.audience = Audience::programs;
  }
  document.add(std::move(table));
  return document;
}

}  // namespace

constinit const AnswerRow own_code_answer{
    .name = "own_code",
    .title = "Your code",
    .help = "Lines of your code that hold the most",
    .placement = Placement::rows,
    .view = "top",
    .describe = describe_own_code,
};
constinit const AnswerRow rows_answer{
    .name = "rows",
    .title = "Top",
    .help = "Frames that hold the most",
    .placement = Placement::rows,
    .view = "top",
    .describe = describe_rows,
};

}  // namespace hbmscope
