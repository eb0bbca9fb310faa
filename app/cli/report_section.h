// A section of a report, described by one row. A new section is a file with its text and JSON plus a row in
// report_sections.cpp; the parser declares the flag in the row.
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

struct NamedProgram;
struct ReportOptions;
struct ReportStyle;

struct ReportInput {
  const ReportOptions& options;
  const Source& source;
  const ProfileView& view;
  std::span<const NamedProgram> programs{};  // If the source is one of a folder's programs: all of them.
};

struct ReportSection {
  std::string_view name;  // The key of its JSON. Two sections with the same name are never printed together.
  std::string_view flag = {}, value_name = {}, help = {};  // "--peek", "REGEX"; no flag: always printed.
  // A section without a flag is left out of a report on a profile.
  bool needs_trace = false;
  bool replaces_rows = false;  // Printed instead of the rows in a text report.
  // Either may be missing. Errors are found before anything is printed.
  Result<std::string> (*text)(const ReportInput& input, const ReportStyle& style) = nullptr;
  Result<void> (*add_json)(nlohmann::ordered_json& json, const ReportInput& input) = nullptr;
};

// In the order in which they are printed.
std::span<const ReportSection> report_sections();

bool is_wanted(const ReportSection& section, const ReportInput& input);
// Adds the part of a trace that every JSON report and export has: its time, heaps, failures, program, job.
Result<void> add_trace_json(nlohmann::ordered_json& json, const ReportInput& input);
// The flags of all sections, for reports that must refuse them.
std::vector<std::string_view> section_flags();

}  // namespace hbmscope::cli
