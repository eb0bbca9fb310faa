#include "app/cli/report_ranks.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/query/rank_clocks.h"
#include "analysis/read/source/read_source.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_optional.h"
#include "app/cli/figure_text.h"
#include "app/cli/options.h"
#include "app/cli/report_address.h"
#include "app/cli/report_section.h"
#include "app/cli/report_text.h"

namespace hbmscope::cli {
namespace {

using Json = nlohmann::ordered_json;

RankClocks clocks_of(const Trace& trace, const std::vector<RankRow>& rows) {
  std::vector<std::size_t> streams;
  for (const RankRow& row : rows) streams.push_back(row.stream);
  std::sort(streams.begin(), streams.end());
  return find_rank_clocks(trace, streams);
}

std::string failure_text(const RankRow& row) {
  if (!row.failure) return {};
  std::string text = "out of memory";
  if (row.failures > 1) text += fmt::format(" {} times, the last", text_from_count(row.failures));
  if (row.failure->since_start_ns) text += " at " + seconds_text(*row.failure->since_start_ns);
  if (row.failure->line) text += fmt::format(" at line {}", text_from_count(*row.failure->line));
  return text + ": requested " + text_from_request(row.failure->requested_bytes);
}

std::string rows_text(const std::vector<RankRow>& rows, std::size_t shown, const Terminal& terminal) {
  const bool has_limits = std::any_of(rows.begin(), rows.end(), [](const RankRow& row) { return row.limit_bytes; });
  std::vector<std::vector<std::string>> cells;
  for (std::size_t i = 0; i < shown; ++i) {
    const RankRow& row = rows[i];
    std::string name = printable(row.name);
    if (row.rank && name.find("rank") == std::string::npos) name += fmt::format(", rank {}", *row.rank);
    cells.push_back({name, text_or_dash(row.in_use_bytes), text_from_known_share(row.fullness()),
                     text_from_bytes(row.peak_bytes), has_limits ? text_or_dash(row.limit_bytes) : std::string(),
                     text_or_dash(row.pool_bytes), text_or_dash(row.largest_free_bytes), printable(row.heap_name),
                     row.is_inexact ? "inexact" : std::string(), failure_text(row)});
  }
  return text_from_columns({{"rank", false},
                            {"in use", true},
                            {"full", true},
                            {"peak", true},
                            {"limit", true},
                            {"pool", true},
                            {"largest free", true},
                            {"heap", false},
                            {"", false},
                            {"failure", false}},
                           cells, terminal.style());
}

Result<std::string> ranks_text(const ReportInput& input, const ReportStyle& style) {
  const Trace& trace = *input.source.trace;
  if (trace.streams.size() < 2) return std::string();
  const std::vector<RankRow> rows = compute_rank_rows(trace, input.source.states);
  if (rows.size() < 2) return std::string();
  std::string text = "\n";
  if (rows.size() > ranks_with_heaps_max) {
    const auto failed = std::count_if(rows.begin(), rows.end(), [](const RankRow& row) { return row.failures > 0; });
    const std::size_t shown = style.top == 0 ? rows.size() : std::min(rows.size(), style.top);
    text += fmt::format("{}, the worst of {} first{}:\n", moment_text(input.source),
                        text_from_count_of(rows.size(), "rank"),
                        failed > 0 ? fmt::format(" ({} ran out of memory)", text_from_count(failed)) : "");
    text += rows_text(rows, shown, style.terminal);
    if (shown < rows.size())
      text +=
          style.terminal.paint(fmt::format("{} of {} ranks; --top 0 prints all", shown, rows.size()), Ink::dim) + "\n";
  }
  return text + style.terminal.paint(sentence_of(clocks_of(trace, rows)), Ink::dim) + "\n";
}

Json json_from_rank(const RankRow& row) {
  Json json = {{"name", valid_utf8(row.name)},
               {"stream", row.stream},
               {"rank", or_null(row.rank)},
               {"heap", or_null(valid_utf8(row.heap_name))},
               {"in_use_bytes", or_null(row.in_use_bytes)},
               {"fullness", or_null(row.fullness())},
               {"peak_in_use_bytes", row.peak_bytes},
               {"limit_bytes", or_null(row.limit_bytes)},
               {"pool_bytes", or_null(row.pool_bytes)},
               {"largest_free_bytes", or_null(row.largest_free_bytes)},
               {"is_inexact", row.is_inexact},
               {"failures", row.failures},
               {"last_failure", nullptr}};
  if (row.failure)
    json["last_failure"] = {
        {"asked_bytes", row.failure->requested_bytes == 0 ? Json(nullptr) : Json(row.failure->requested_bytes)},
        {"event", row.failure->event},
        {"since_start_ns", or_null(row.failure->since_start_ns)}};
  return json;
}

Result<void> add_ranks(Json& json, const ReportInput& input) {
  const Trace& trace = *input.source.trace;
  if (trace.streams.size() < 2) return {};
  const std::vector<RankRow> rows = compute_rank_rows(trace, input.source.states);
  json["ranks"] = Json::array();
  for (const RankRow& row : rows) json["ranks"].push_back(json_from_rank(row));
  const RankClocks clocks = clocks_of(trace, rows);
  json["rank_clocks"] = {
      {"ranks", clocks.streams},
      {"related", clocks.related},
      {"clock", clocks.related < 2 ? Json(nullptr) : Json(clocks.is_time_of_day ? "time_of_day" : "counter")},
      {"uncertainty_ns", or_null(clocks.uncertainty_ns)},
      {"machines", or_null(clocks.machines)}};
  return {};
}

}  // namespace

ReportSection ranks_section() {
  return {.name = "ranks", .needs_trace = true, .text = ranks_text, .add_json = add_ranks};
}

}  // namespace hbmscope::cli
