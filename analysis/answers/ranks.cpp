// The processes of a job side by side, the worst first.
#include <algorithm>

#include <fmt/format.h>

#include "analysis/answers/answer_table.h"
#include "analysis/answers/heaps.h"
#include "analysis/query/rank_clocks.h"
#include "analysis/query/rank_rows.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

RankClocks clocks_of(const Trace& trace, const std::vector<RankRow>& rows) {
  std::vector<std::size_t> streams;
  for (const RankRow& row : rows) streams.push_back(row.stream);
  std::sort(streams.begin(), streams.end());
  return find_rank_clocks(trace, streams);
}

std::string failure_of_rank(const RankRow& row) {
  if (!row.failure) return {};
  std::string text = "out of memory";
  if (row.failures > 1) text += fmt::format(" {} times, the last", text_from_count(row.failures));
  if (row.failure->since_start_ns) text += " at " + text_from_moment_ns(*row.failure->since_start_ns);
  if (row.failure->line) text += fmt::format(" at line {}", text_from_count(*row.failure->line));
  return text + ": requested " + text_from_request(row.failure->requested_bytes);
}

std::vector<Value> cells_of_rank(const RankRow& row) {
  std::string shown = row.name;
  if (row.rank && shown.find("rank") == std::string::npos) shown += fmt::format(", rank {}", *row.rank);
  const auto& failure = row.failure;
  return {shown,
          row.name,
          std::uint64_t{row.stream},
          row.rank ? Value(std::uint64_t{*row.rank}) : Value(),
          value_of(row.in_use_bytes),
          value_of(row.fullness()),
          row.peak_bytes,
          value_of(row.limit_bytes),
          value_of(row.pool_bytes),
          value_of(row.largest_free_bytes),
          value_of(row.heap_name),
          row.is_inexact,
          value_of(std::string(row.is_inexact ? "inexact" : "")),
          row.failures,
          value_of(failure_of_rank(row)),
          !failure || failure->requested_bytes == 0 ? Value() : Value(failure->requested_bytes),
          failure ? Value(failure->event) : Value(),
          failure ? value_of(failure->since_start_ns) : Value()};
}

Table table_of_ranks(const std::vector<RankRow>& rows) {
  std::vector<std::vector<Value>> cells;
  for (const RankRow& row : rows) cells.push_back(cells_of_rank(row));
  return {.key = "ranks",
          .columns = {{.title = "Rank"},
                      {.key = "name"},
                      {.key = "stream", .unit = Unit::count},
                      {.key = "rank", .unit = Unit::count},
                      {.key = "in_use_bytes", .title = "In use", .unit = Unit::bytes},
                      {.key = "fullness",
                       .title = "Full",
                       .unit = Unit::share,
                       .meaning = "In use / limit, or / device where the limit is unknown, or / pool where both are.",
                       .rank = 1},
                      {.key = "peak_in_use_bytes", .title = "Peak", .unit = Unit::bytes, .rank = 2},
                      {.key = "limit_bytes", .title = "Limit", .unit = Unit::bytes, .rank = 5},
                      {.key = "pool_bytes", .title = "Pool", .unit = Unit::bytes, .rank = 4},
                      {.key = "largest_free_bytes", .title = "Largest free", .unit = Unit::bytes, .rank = 3},
                      {.key = "heap", .title = "Heap", .rank = 6},
                      {.key = "is_inexact", .unit = Unit::flag},
                      {.title = "Exact", .rank = 7},
                      {.key = "failures", .unit = Unit::count},
                      {.title = "Failure"},
                      {.key = "asked_bytes", .unit = Unit::bytes, .within = "last_failure"},
                      {.key = "event", .unit = Unit::count, .within = "last_failure"},
                      {.key = "since_start_ns", .unit = Unit::nanoseconds, .within = "last_failure"}},
          .rows = std::move(cells)};
}

Document describe_clocks(const RankClocks& clocks) {
  Document part{.key = "rank_clocks", .audience = Audience::programs};
  const char* const clock = clocks.is_time_of_day ? "time_of_day" : "counter";
  part.add(Figures{{{"ranks", std::uint64_t{clocks.streams}, Unit::count},
                    {"related", std::uint64_t{clocks.related}, Unit::count},
                    {"clock", clocks.related < 2 ? Value() : Value(std::string(clock))},
                    {"uncertainty_ns", value_of(clocks.uncertainty_ns), Unit::nanoseconds},
                    {"machines", clocks.machines ? Value(std::uint64_t{*clocks.machines}) : Value(), Unit::count}}});
  return part;
}

Result<Document> describe_ranks(const AnswerInput& input) {
  Document document;
  if (input.trace->streams.size() < 2) return document;
  const std::vector<RankRow> rows = compute_rank_rows(*input.trace, *input.states);
  Table table = table_of_ranks(rows);
  const auto failed = std::count_if(rows.begin(), rows.end(), [](const RankRow& row) { return row.failures > 0; });
  table.title = fmt::format("{}, the worst of {} first{}", heading_from_moment(*input.moment),
                            text_from_count_of(rows.size(), "rank"),
                            failed > 0 ? fmt::format(" ({} ran out of memory)", text_from_count(failed)) : "");
  limit_rows(table, input.top, "--top 0 prints all", false);
  // Of few ranks there is more to say: their heaps.
  if (rows.size() <= ranks_with_heaps_max) table.audience = Audience::programs;
  const RankClocks clocks = clocks_of(*input.trace, rows);
  document.add(std::move(table));
  document.add(describe_clocks(clocks));
  if (rows.size() > 1) document.add(Sentence{.text = sentence_of(clocks), .tone = Tone::dim});
  return document;
}

}  // namespace

constinit const AnswerRow ranks_answer{
    .name = "ranks",
    .title = "Ranks",
    .help = "The processes of a job, the worst first",
    .needs_trace = true,
    .describe = describe_ranks,
};

}  // namespace hbmscope
