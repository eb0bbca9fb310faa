#include "app/cli/pool_costs.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "app/cli/figure_text.h"
#include "app/cli/text_columns.h"

namespace hbmscope::cli {

namespace {

std::string certainty_text(const PoolCosts& costs) {
  if (costs.confidence == Confidence::checked) return {};
  if (!costs.recorded_pool_bytes || *costs.recorded_pool_bytes == costs.pool_bytes) return " (approximate)";
  return fmt::format(" (approximate: by a replay; the recorded pool had {})",
                     text_from_bytes(*costs.recorded_pool_bytes));
}

}  // namespace

std::string text_from_pool_costs(const PoolCosts& costs, std::string_view pool, const Terminal& terminal) {
  std::string text = fmt::format("\nWhy {} has {}, and {} was requested{}\n", pool, text_from_bytes(costs.pool_bytes),
                                 text_from_bytes(costs.requested_bytes), certainty_text(costs));
  const bool has_alone = std::any_of(costs.parts.begin(), costs.parts.end(),
                                     [](const PoolCostPart& part) { return part.alone_bytes != 0; });
  const bool has_negative = std::any_of(costs.parts.begin(), costs.parts.end(), [](const PoolCostPart& part) {
    return part.bytes < 0 || part.alone_bytes < 0;
  });
  std::vector<std::vector<std::string>> cells;
  for (const PoolCostPart& part : costs.parts) {
    if (part.bytes == 0 && part.alone_bytes == 0) continue;
    const bool is_rule = part.cost != PoolCost::fragmentation;
    cells.push_back({text_from_bytes(part.bytes),
                     has_alone && is_rule ? text_from_bytes(part.alone_bytes) : std::string(),
                     std::string(text_from_pool_cost(part.cost)), std::string(explanation_of(part.cost))});
  }
  text +=
      text_from_columns({{"bytes", true}, {"alone", true}, {"what", false}, {"", false}}, cells, terminal, Ink::dim);
  const std::string note =
      fmt::format("bytes: by how much the pool shrinks in a replay when these rules are lifted one after another{}",
                  has_alone ? "; alone: when only this one is" : "") +
      (has_negative ? "; below 0: without the rule, blocks are placed worse" : "");
  return text + terminal.paint(note, Ink::dim) + "\n";
}

std::string text_from_pool_costs_over_time(std::span<const PoolCosts> times, const Terminal& terminal) {
  while (!times.empty() && times.front().pool_bytes == 0) times = times.subspan(1);
  if (times.size() < 2) return {};
  const auto is_zero = [&](std::size_t part) {
    return std::all_of(times.begin(), times.end(), [&](const PoolCosts& one) { return one.parts[part].bytes == 0; });
  };
  std::vector<TextColumn> columns = {{"events", true}, {"time", true}, {"pool", true}, {"requested", true}};
  for (const PoolCostPart& part : times.front().parts) columns.push_back({text_from_pool_cost(part.cost), true});
  std::vector<std::vector<std::string>> cells;
  for (const PoolCosts& costs : times) {
    std::vector<std::string> row = {text_from_count(costs.position),
                                    costs.since_start_ns ? seconds_text(*costs.since_start_ns) : "",
                                    text_from_bytes(costs.pool_bytes), text_from_bytes(costs.requested_bytes)};
    for (std::size_t part = 0; part < costs.parts.size(); ++part)
      row.push_back(is_zero(part) ? std::string() : text_from_bytes(costs.parts[part].bytes));
    cells.push_back(std::move(row));
  }
  return "\nOver time\n" + text_from_columns(columns, cells, terminal, Ink::dim);
}

}  // namespace hbmscope::cli
