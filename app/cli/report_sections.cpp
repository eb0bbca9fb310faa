#include "app/cli/report_section.h"

#include <array>

#include <nlohmann/json.hpp>

#include "analysis/read/source/read_source.h"
#include "app/cli/options.h"

namespace hbmscope::cli {

ReportSection heaps_section();           // report_trace.cpp
ReportSection ranks_section();           // report_ranks.cpp
ReportSection shared_section();          // report_shared.cpp
ReportSection bins_section();            // report_bins.cpp
ReportSection labels_section();          // report_labels.cpp
ReportSection executed_section();        // report_executed.cpp
ReportSection program_section();         // report_program.cpp
ReportSection program_blocks_section();  // report_program_blocks.cpp
ReportSection job_section();             // report_job.cpp
ReportSection metrics_section();         // report_metrics.cpp
ReportSection import_section();          // report_rows.cpp, as all that follow
ReportSection rows_section();
ReportSection tree_section();
ReportSection bottom_up_section();
ReportSection peek_section();

std::span<const ReportSection> report_sections() {
  static const std::array sections = {
      ranks_section(),    heaps_section(),   shared_section(),         bins_section(),      labels_section(),
      executed_section(), program_section(), program_blocks_section(), job_section(),       metrics_section(),
      import_section(),   rows_section(),    tree_section(),           bottom_up_section(), peek_section()};
  return sections;
}

bool is_wanted(const ReportSection& section, const ReportInput& input) {
  if (!section.flag.empty()) return input.options.used.has(section.flag);
  return !section.needs_trace || input.source.trace != nullptr;
}

Result<void> add_trace_json(nlohmann::ordered_json& json, const ReportInput& input) {
  for (const ReportSection& section : report_sections())
    if (section.needs_trace && section.flag.empty() && section.add_json != nullptr && is_wanted(section, input))
      if (auto added = section.add_json(json, input); !added) return added;
  return {};
}

std::vector<std::string_view> section_flags() {
  std::vector<std::string_view> flags;
  for (const ReportSection& section : report_sections())
    if (!section.flag.empty()) flags.push_back(section.flag);
  return flags;
}

}  // namespace hbmscope::cli
