// A section of a report: one row with all that there is to know about it. A new section is a file with its text and its
// JSON, and a row in report_sections.cpp; the parser declares the flag that a row names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/model/result.h"

namespace hbmscope {
struct ProfileView;
struct Source;
}  // namespace hbmscope

namespace hbmscope::cli {

struct ReportOptions;
struct ReportStyle;

struct ReportInput {
  const ReportOptions& options;
  const Source& source;
  const ProfileView& view;
};

struct ReportSection {
  std::string_view name;  // The key of its JSON; two sections of one name are not printed at once.
  std::string_view flag = {}, value_name = {}, help = {};  // "--peek", "REGEX"; no flag: always printed.
  bool needs_trace = false;                                // Without a flag: left out of a report on a profile.
  bool replaces_rows = false;                              // As text it is printed instead of the rows.
  // Either may be missing. Errors are found before anything is printed.
  Result<std::string> (*text)(const ReportInput& input, const ReportStyle& style) = nullptr;
  Result<void> (*add_json)(nlohmann::ordered_json& json, const ReportInput& input) = nullptr;
};

// In the order in which they are printed.
std::span<const ReportSection> report_sections();

bool is_wanted(const ReportSection& section, const ReportInput& input);
// What a trace adds to every report and export as JSON: its time, heaps, failures, program, job.
Result<void> add_trace_json(nlohmann::ordered_json& json, const ReportInput& input);
// Of all sections: a report that is about something else refuses them.
std::vector<std::string_view> section_flags();

}  // namespace hbmscope::cli
