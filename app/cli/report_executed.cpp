// The report section about the compiled programs of a JAX job: what each needs, by its compiler's figures.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/query/executed_programs.h"
#include "analysis/read/source/read_source.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/report_section.h"
#include "app/cli/report_text.h"

namespace hbmscope::cli {
namespace {

constexpr std::size_t programs_shown = 5;  // JSON has all of them.

Result<std::string> executed_text(const ReportInput& input, const ReportStyle& style) {
  const std::vector<ExecutedProgram> programs = find_executed_programs(*input.source.trace);
  if (programs.empty()) return std::string();
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < std::min(programs.size(), programs_shown); ++i) {
    const ExecutedProgram& row = programs[i];
    rows.push_back({text_from_bytes(static_cast<std::int64_t>(row.needed_bytes())),
                    text_from_bytes(static_cast<std::int64_t>(row.argument_bytes)),
                    text_from_bytes(static_cast<std::int64_t>(row.output_bytes)),
                    text_from_bytes(static_cast<std::int64_t>(row.aliased_bytes)),
                    text_from_bytes(static_cast<std::int64_t>(row.temporary_bytes)), printable(row.name)});
  }
  std::string text = text_from_columns({{"needs", true},
                                        {"arguments", true},
                                        {"outputs", true},
                                        {"of which donated", true},
                                        {"temporaries", true},
                                        {"program, on each device", false}},
                                       rows, style.terminal.style());
  if (programs.size() > programs_shown)
    text += fmt::format("{} of {} programs; --json has all\n", programs_shown, text_from_count(programs.size()));
  return text;
}

Result<void> add_executed(nlohmann::ordered_json& json, const ReportInput& input) {
  json["executed_programs"] = nlohmann::ordered_json::array();
  for (const ExecutedProgram& row : find_executed_programs(*input.source.trace))
    json["executed_programs"].push_back({{"name", valid_utf8(row.name)},
                                         {"compiled", row.compiled},
                                         {"needed_bytes", row.needed_bytes()},
                                         {"argument_bytes", row.argument_bytes},
                                         {"output_bytes", row.output_bytes},
                                         {"aliased_bytes", row.aliased_bytes},
                                         {"temporary_bytes", row.temporary_bytes},
                                         {"code_bytes", row.code_bytes}});
  return {};
}

}  // namespace

ReportSection executed_section() {
  return {.name = "executed programs", .needs_trace = true, .text = executed_text, .add_json = add_executed};
}

}  // namespace hbmscope::cli
