#include "analysis/answers/range.h"

#include <memory>

#include <fmt/format.h>

#include "analysis/answers/heaps.h"
#include "analysis/answers/stacks.h"
#include "analysis/query/visible_frames.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

Figures figures_of_sum(const BlockSum& sum) {
  return {{{"count", sum.count, Unit::count}, {"bytes", sum.bytes, Unit::bytes}}};
}

Document part_of_sum(std::string key, const BlockSum& sum) {
  Document part{.key = std::move(key), .audience = Audience::programs};
  part.add(figures_of_sum(sum));
  return part;
}

std::vector<Column> columns_of_sums() {
  return {{.key = "bytes",
           .title = "Survived",
           .unit = Unit::bytes,
           .meaning = "Allocated in the range and live at its end.",
           .share = 1,
           .within = "survived"},
          {.unit = Unit::share},
          {.key = "count", .title = "Blocks", .unit = Unit::count, .rank = 3, .within = "survived"},
          {.key = "net_bytes",
           .title = "Net",
           .unit = Unit::bytes,
           .meaning = "Allocated − freed in the range.",
           .rank = 1,
           .is_change = true},
          {.key = "bytes", .title = "Allocated", .unit = Unit::bytes, .rank = 2, .within = "allocated"},
          {.key = "bytes", .title = "Freed", .unit = Unit::bytes, .rank = 2, .within = "freed"},
          {.key = "count", .unit = Unit::count, .within = "allocated"},
          {.key = "count", .unit = Unit::count, .within = "freed"}};
}

Value cell_of_sums(const RangeSums& sums, const RangeSums& total, std::size_t column) {
  switch (column) {
    case 0: return sums.survived.bytes;
    case 1: return share_value(sums.survived.bytes, total.survived.bytes);
    case 2: return sums.survived.count;
    case 3: return sums.net_bytes();
    case 4: return sums.allocated.bytes;
    case 5: return sums.freed.bytes;
    case 6: return sums.allocated.count;
    default: return sums.freed.count;
  }
}

constexpr std::size_t sum_columns = 8;

Table table_of_totals(const RangeSummary& summary) {
  const auto row = [](const BlockSum& sum, const char* what) {
    return std::vector<Value>{sum.bytes, sum.count, std::string(what)};
  };
  return for_readers({.columns = {{.title = "Bytes", .unit = Unit::bytes},
                                  {.title = "Blocks", .unit = Unit::count},
                                  {.title = "What"}},
                      .rows = std::vector<std::vector<Value>>{
                          row(summary.total.allocated, "allocated"), row(summary.total.freed, "freed"),
                          row(summary.freed_older, "of these, allocated before the range"),
                          row(summary.total.survived, "survived: allocated in the range and live at its end")}});
}

std::string change_text(const RangeSummary& summary) {
  std::string text = "Change of memory in use: " + delta_text_from_bytes(summary.in_use_delta_bytes);
  if (summary.other_delta_bytes != 0)
    text += fmt::format("; {} of it without an allocation or free (a heap that was removed, a new listing, handles)",
                        delta_text_from_bytes(summary.other_delta_bytes));
  return text + ".";
}

Table table_of_heaps(const RangeSummary& summary) {
  std::vector<std::vector<Value>> cells;
  for (std::size_t i = 0; i < summary.heaps_after.size(); ++i) {
    const HeapRow &before = summary.heaps_before[i], &after = summary.heaps_after[i];
    std::vector<Value>& row = cells.emplace_back(std::vector<Value>{after.name});
    for (const HeapRow* side : {&before, &after}) row.emplace_back(side->in_use_bytes);
    for (const auto member : {&HeapRow::pool_bytes, &HeapRow::largest_free_bytes})
      for (const HeapRow* side : {&before, &after}) row.push_back(value_of(side->*member));
    for (const HeapRow* side : {&before, &after}) row.push_back(value_of(side->external_fragmentation));
  }
  Table table = for_readers({.title = "Heaps, before and after",
                             .columns = {{.title = "Heap"}},
                             .rows = std::move(cells),
                             .shown = summary.heaps_after.size()});
  for (const std::string_view title : {"In use", "Pool", "Largest free"}) {
    table.columns.push_back({.title = title, .unit = Unit::bytes});
    table.columns.push_back({.title = "→", .unit = Unit::bytes});
  }
  table.columns.push_back({.title = "Ext. frag.", .unit = Unit::share});
  table.columns.push_back({.title = "→", .unit = Unit::share});
  return table;
}

}  // namespace

Table describe_range_by_code(const RangeSummary& summary) {
  Table table{.key = "own_code", .title = "By your code, where it was allocated", .columns = columns_of_sums()};
  table.columns.push_back({.title = "Your code", .unit = Unit::code});
  table.columns.push_back({.key = "thread"});
  table.rows = {summary.user_code.size(), [&summary](std::size_t i, std::size_t column) -> Value {
                  const RangeOwnRow& row = summary.user_code[i];
                  if (column < sum_columns) return cell_of_sums(row.sums, summary.total, column);
                  if (column > sum_columns) return value_of(std::string(row.is_autograd_thread ? "autograd" : ""));
                  if (row.function.empty()) return std::string(row.no_line_text());
                  return CodeSite{row.function, row.file, row.line, false, true};
                }};
  table.action = [&rows = summary.user_code](std::size_t i) {
    const RangeOwnRow& row = rows[i];
    if (row.function.empty()) return Action{};
    return Action{.kind = Action::Kind::select_code, .place = {row.function, row.file, row.line, false, true}};
  };
  return table;
}

Table describe_range_by_stack(const Trace& trace, const RangeSummary& summary) {
  Table table{
      .key = "stacks", .title = "By stack, by net bytes, the innermost frame first", .columns = columns_of_sums()};
  table.columns.push_back({.title = "Stack", .unit = Unit::stack});
  table.columns.push_back({.key = "stack", .unit = Unit::stack});
  const auto visible = std::make_shared<const VisibleFrames>(trace);
  table.rows = {summary.stacks.size(), [&trace, &summary, visible](std::size_t i, std::size_t column) -> Value {
                  const RangeStackRow& row = summary.stacks[i];
                  if (column < sum_columns) return cell_of_sums(row.sums, summary.total, column);
                  const Definitions& definitions = trace.streams[row.stream].definitions();
                  if (column > sum_columns) return whole_stack(definitions, row.stack);
                  return stack_from_frames(definitions, visible->of(definitions, row.stack), row.stack);
                }};
  table.action = [&trace, &summary](std::size_t i) {
    const RangeStackRow& row = summary.stacks[i];
    const Value own = own_line_value(trace.streams[row.stream].definitions(), row.stack);
    const auto* site = std::get_if<CodeSite>(&own);
    return site != nullptr ? Action{.kind = Action::Kind::select_code, .place = *site} : Action{};
  };
  return table;
}

Document describe_range(const Trace& trace, const TraceRange& range, const RangeSummary& summary,
                        const ShownRows& shown, Audience audience) {
  Document part{.key = "range"};
  for (const auto& [key, moment] : {std::pair("from", &range.from), std::pair("to", &range.to)})
    part.add(describe_moment(trace, *moment, key));
  part.add(Sentence{.text = fmt::format("From {} to {}.", range.from.text, range.to.text), .tone = Tone::strong});
  part.add(part_of_sum("allocated", summary.total.allocated));
  part.add(part_of_sum("freed", summary.total.freed));
  part.add(part_of_sum("survived", summary.total.survived));
  part.add(Figures{{{"net_bytes", summary.total.net_bytes(), Unit::bytes}}});
  part.add(part_of_sum("freed_older", summary.freed_older));
  part.add(Figures{{{"in_use_delta_bytes", summary.in_use_delta_bytes, Unit::bytes},
                    {"other_delta_bytes", summary.other_delta_bytes, Unit::bytes}}});
  part.add(table_of_totals(summary));
  part.add(Sentence{.text = change_text(summary)});
  for (const auto& [key, rows] :
       {std::pair("heaps_before", &summary.heaps_before), std::pair("heaps_after", &summary.heaps_after)}) {
    Table heaps = for_programs(describe_heaps(*rows));
    heaps.key = key;
    part.add(std::move(heaps));
  }
  part.add(table_of_heaps(summary));
  const bool cuts = audience == Audience::programs;
  Table own = describe_range_by_code(summary);
  limit_rows(own, shown.own, "--own 0 prints all", cuts);
  part.add(std::move(own));
  Table stacks = describe_range_by_stack(trace, summary);
  limit_rows(stacks, shown.stacks, "--top 0 prints all", cuts);
  part.add(std::move(stacks));
  return part;
}

}  // namespace hbmscope
