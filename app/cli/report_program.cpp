// The report section about a compiled program, if the trace is a compiler dump.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/model/clamped.h"
#include "analysis/query/program_memory.h"
#include "analysis/read/source/read_source.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_optional.h"
#include "app/cli/figure_text.h"
#include "app/cli/load.h"
#include "app/cli/report_section.h"
#include "app/cli/report_text.h"

namespace hbmscope::cli {
namespace {

std::string needed_text(const ProgramMemoryRow& row) {
  const auto needed = row.needed_without_code_bytes();
  if (!needed) return {};
  if (!row.code_bytes) return fmt::format(" needs {} of device memory, plus its code", text_from_bytes(*needed));
  return fmt::format(" needs {} of device memory", text_from_bytes(clamped_sum(*needed, *row.code_bytes)));
}

std::string sum_text(const ProgramMemoryRow& row) {
  const auto& temp_bytes = row.live_temp_bytes ? row.live_temp_bytes : row.temp_bytes;
  return fmt::format(": arguments {} + outputs {} − aliased {} + temporaries {}{}",
                     text_from_known_bytes(row.argument_bytes), text_from_known_bytes(row.output_bytes),
                     text_from_known_bytes(row.alias_bytes), text_from_known_bytes(temp_bytes),
                     row.code_bytes ? " + code " + text_from_bytes(*row.code_bytes) : "");
}

// What the figures of HLO text are.
std::string by_shapes_text(const ProgramMemoryRow& row) {
  if (!row.live_temp_bytes) return {};
  std::string text =
      "  Temporaries: the most bytes live at once, by shapes. XLA's own assignment may let more values share memory, "
      "or leave gaps.\n";
  if (!row.is_scheduled)
    text += "  This module is not scheduled: the real order of its instructions is unknown, and so is the peak.\n";
  return text;
}

// Of a folder of dumps, or of a file that has several programs; the largest first.
std::vector<NamedProgram> all_programs(const ReportInput& input) {
  std::vector<NamedProgram> programs(input.programs.begin(), input.programs.end());
  if (programs.empty())
    for (ProgramMemoryRow& row : find_programs(*input.source.trace)) programs.push_back({{}, std::move(row)});
  return programs;
}

std::string programs_text(const ReportInput& input, const ReportStyle& style) {
  const std::vector<NamedProgram> programs = all_programs(input);
  if (programs.size() < 2) return {};
  std::string text = fmt::format("{} programs, which aren't added up", programs.size());
  text += input.programs.empty() ? ":\n" : ". This report is on the first, which needs the most.\n";
  text += style.terminal.paint(fmt::format("{:>10}  {:>10}  {:>10}  {:>10}  {:>11}  program", "needed", "arguments",
                                           "outputs", "aliased", "temporaries"),
                               Ink::dim) +
          "\n";
  const std::size_t shown = style.top == 0 ? programs.size() : std::min(style.top, programs.size());
  for (const NamedProgram& program : std::span(programs).first(shown)) {
    const ProgramMemoryRow& row = program.memory;
    text +=
        fmt::format("{:>10}  {:>10}  {:>10}  {:>10}  {:>11}  {}{}{}\n", text_from_bytes(row.roughly_needed_bytes()),
                    text_from_known_bytes(row.argument_bytes), text_from_known_bytes(row.output_bytes),
                    text_from_known_bytes(row.alias_bytes),
                    text_from_known_bytes(row.live_temp_bytes ? row.live_temp_bytes : row.temp_bytes),
                    printable(row.name), row.name.empty() || program.file.empty() ? "" : "  ", printable(program.file));
  }
  if (shown < programs.size()) text += fmt::format("{} of {} programs; --top 0 prints all\n", shown, programs.size());
  return text;
}

Result<std::string> program_text(const ReportInput& input, const ReportStyle& style) {
  const auto row = find_program_memory(*input.source.trace);
  if (!row) return std::string();
  std::string text =
      (row->name.empty() ? "Program" : fmt::format("Program {}", printable(row->name))) + needed_text(*row);
  text +=
      row->argument_bytes ? sum_text(*row) : ", by memory space; its arguments, outputs and temporaries are unknown";
  text += ".\n" + by_shapes_text(*row);
  if (row->replayed_temp_bytes && row->temp_bytes) {
    const std::int64_t difference = signed_from(*row->replayed_temp_bytes) - signed_from(*row->temp_bytes);
    text += fmt::format("  Temporaries repacked with XLA's published algorithm: {} ({}, {})\n",
                        text_from_bytes(*row->replayed_temp_bytes), delta_text_from_bytes(difference),
                        delta_text_from_share(signed_from(*row->temp_bytes), signed_from(*row->replayed_temp_bytes)));
  }
  for (const ProgramMemoryRow::Space& space : row->by_space)
    text += fmt::format("  {:>10}  in {}\n", text_from_bytes(space.bytes), printable(space.name));
  return text + programs_text(input, style);
}

nlohmann::ordered_json json_from_program(const ProgramMemoryRow& row) {
  nlohmann::ordered_json by_space = nlohmann::ordered_json::object();
  for (const ProgramMemoryRow::Space& space : row.by_space) by_space[valid_utf8(space.name)] = space.bytes;
  return {{"name", or_null(valid_utf8(row.name))},
          {"argument_bytes", or_null(row.argument_bytes)},
          {"output_bytes", or_null(row.output_bytes)},
          {"alias_bytes", or_null(row.alias_bytes)},
          {"temp_bytes", or_null(row.temp_bytes)},
          {"live_temp_bytes", or_null(row.live_temp_bytes)},
          {"is_scheduled", row.is_scheduled},
          {"generated_code_bytes", or_null(row.code_bytes)},
          {"needed_without_code_bytes", or_null(row.needed_without_code_bytes())},
          {"replayed_temp_bytes", or_null(row.replayed_temp_bytes)},
          {"donatable_bytes", or_null(row.donatable_bytes)},
          {"by_space", std::move(by_space)}};
}

Result<void> add_program(nlohmann::ordered_json& json, const ReportInput& input) {
  const auto row = find_program_memory(*input.source.trace);
  if (!row) return {};
  json["program"] = json_from_program(*row);
  const std::vector<NamedProgram> programs = all_programs(input);
  if (programs.size() < 2) return {};
  json["programs"] = nlohmann::ordered_json::array();
  for (const NamedProgram& program : programs) {
    json["programs"].push_back(json_from_program(program.memory));
    json["programs"].back()["file"] = or_null(valid_utf8(program.file));
  }
  return {};
}

}  // namespace

ReportSection program_section() {
  return {.name = "program", .needs_trace = true, .text = program_text, .add_json = add_program};
}

}  // namespace hbmscope::cli
