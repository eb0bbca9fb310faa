#include "app/cli/report_program.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/model/clamped.h"
#include "analysis/query/program_memory.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_optional.h"

namespace hbmscope::cli {
std::string text_from_program(const Trace& trace) {
  const auto row = find_program_memory(trace);
  if (!row) return {};
  std::string text = row->name.empty() ? "Program" : fmt::format("Program {}", printable(row->name));
  if (!row->argument_bytes)
    text += ", by memory space; what of it are arguments, outputs and temporaries is not told";
  else
    text += fmt::format(": arguments {} + outputs {} - in both {} + temporaries {}", text_from_known_bytes(row->argument_bytes),
                        text_from_known_bytes(row->output_bytes), text_from_known_bytes(row->alias_bytes), text_from_known_bytes(row->temp_bytes));
  if (const auto needed = row->needed_without_code_bytes())
    text += row->code_bytes ? fmt::format(" + code {} = {} of device memory", text_from_bytes(*row->code_bytes),
                                          text_from_bytes(clamped_sum(*needed, *row->code_bytes)))
                            : fmt::format(" = {} of device memory, and its code", text_from_bytes(*needed));
  text += ".\n";
  if (row->replayed_temp_bytes && row->temp_bytes) {
    const std::int64_t difference = signed_from(*row->replayed_temp_bytes) - signed_from(*row->temp_bytes);
    text += fmt::format("  Temporaries packed anew by XLA's published algorithm: {} ({}, {})\n",
                        text_from_bytes(*row->replayed_temp_bytes), delta_text_from_bytes(difference),
                        delta_text_from_share(signed_from(*row->temp_bytes), signed_from(*row->replayed_temp_bytes)));
  }
  for (const ProgramMemoryRow::Space& space : row->by_space)
    text += fmt::format("  {:>10}  in {}\n", text_from_bytes(space.bytes), printable(space.name));
  return text;
}

void add_program(nlohmann::ordered_json& json, const Trace& trace) {
  const auto row = find_program_memory(trace);
  if (!row) return;
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
}

}  // namespace hbmscope::cli
