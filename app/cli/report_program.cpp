// The report section about a compiled program, if the trace is a compiler dump.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/model/clamped.h"
#include "analysis/query/program_memory.h"
#include "analysis/read/source/read_source.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_optional.h"
#include "app/cli/figure_text.h"
#include "app/cli/report_section.h"

namespace hbmscope::cli {
namespace {

std::string needed_text(const ProgramMemoryRow& row) {
  const auto needed = row.needed_without_code_bytes();
  if (!needed) return {};
  if (!row.code_bytes) return fmt::format(" needs {} of device memory, plus its code", text_from_bytes(*needed));
  return fmt::format(" needs {} of device memory", text_from_bytes(clamped_sum(*needed, *row.code_bytes)));
}

Result<std::string> program_text(const ReportInput& input, const ReportStyle&) {
  const auto row = find_program_memory(*input.source.trace);
  if (!row) return std::string();
  std::string text =
      (row->name.empty() ? "Program" : fmt::format("Program {}", printable(row->name))) + needed_text(*row);
  if (row->argument_bytes)
    text += fmt::format(": arguments {} + outputs {} − aliased {} + temporaries {}{}",
                        text_from_known_bytes(row->argument_bytes), text_from_known_bytes(row->output_bytes),
                        text_from_known_bytes(row->alias_bytes), text_from_known_bytes(row->temp_bytes),
                        row->code_bytes ? " + code " + text_from_bytes(*row->code_bytes) : "");
  else
    text += ", by memory space; its arguments, outputs and temporaries are unknown";
  text += ".\n";
  if (row->replayed_temp_bytes && row->temp_bytes) {
    const std::int64_t difference = signed_from(*row->replayed_temp_bytes) - signed_from(*row->temp_bytes);
    text += fmt::format("  Temporaries repacked with XLA's published algorithm: {} ({}, {})\n",
                        text_from_bytes(*row->replayed_temp_bytes), delta_text_from_bytes(difference),
                        delta_text_from_share(signed_from(*row->temp_bytes), signed_from(*row->replayed_temp_bytes)));
  }
  for (const ProgramMemoryRow::Space& space : row->by_space)
    text += fmt::format("  {:>10}  in {}\n", text_from_bytes(space.bytes), printable(space.name));
  return text;
}

Result<void> add_program(nlohmann::ordered_json& json, const ReportInput& input) {
  const auto row = find_program_memory(*input.source.trace);
  if (!row) return {};
  nlohmann::ordered_json by_space = nlohmann::ordered_json::object();
  for (const ProgramMemoryRow::Space& space : row->by_space) by_space[valid_utf8(space.name)] = space.bytes;
  json["program"] = {{"name", or_null(valid_utf8(row->name))},
                     {"argument_bytes", or_null(row->argument_bytes)},
                     {"output_bytes", or_null(row->output_bytes)},
                     {"alias_bytes", or_null(row->alias_bytes)},
                     {"temp_bytes", or_null(row->temp_bytes)},
                     {"generated_code_bytes", or_null(row->code_bytes)},
                     {"needed_without_code_bytes", or_null(row->needed_without_code_bytes())},
                     {"replayed_temp_bytes", or_null(row->replayed_temp_bytes)},
                     {"donatable_bytes", or_null(row->donatable_bytes)},
                     {"by_space", std::move(by_space)}};
  return {};
}

}  // namespace

ReportSection program_section() {
  return {.name = "program", .needs_trace = true, .text = program_text, .add_json = add_program};
}

}  // namespace hbmscope::cli
