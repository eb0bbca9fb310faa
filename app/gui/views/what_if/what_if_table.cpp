#include "app/gui/views/what_if/what_if_table.h"

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/table_cells.h"

namespace hbmscope::gui {

std::string first_failure_text(const WhatIfRow& row) {
  if (!row.result.first_failure) return {};
  return fmt::format("{}, operation {}", text_from_bytes(row.result.first_failure->request.bytes),
                     text_from_count(row.result.first_failure->operation + 1));
}

std::string fragmentation_text(const WhatIfRow& row) {
  return row.fragmentation_at_peak ? text_from_fraction(*row.fragmentation_at_peak) : "\u2013";
}

TextTable table_from_what_if(const WhatIfAnswer& answer) {
  TextTable table;
  table.head = answer.own;
  for (const std::string& note : answer.notes) table.head += "\n" + note + ".";
  table.columns = {{"Fits"},
                   {"Setting"},
                   {"Peak in use", true},
                   {"Peak pool", true},
                   {"Fragmented", true},
                   {"Driver calls", true},
                   {"Figures"},
                   {"First failure"}};
  for (const WhatIfRow& row : answer.rows) {
    const allocator::ReplayResult& result = row.result;
    table.rows.push_back({text_cell(std::string(text_from_fits(row))), text_cell(row.scenario.name),
                          bytes_cell(result.peak_in_use_bytes), bytes_cell(result.statistics.peak_pool_bytes),
                          text_cell(fragmentation_text(row)),
                          count_cell(result.driver_claims + result.driver_releases + result.driver_refusals),
                          text_cell(std::string(text_from_confidence(row.confidence))),
                          text_cell(first_failure_text(row))});
  }
  return table;
}

}  // namespace hbmscope::gui
