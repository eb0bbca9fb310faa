// What a compiled program needs, if the trace is a compiler dump.

#include <fmt/format.h>

#include "analysis/answers/answer_table.h"
#include "analysis/model/clamped.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

std::string needed_text(const ProgramMemoryRow& row) {
  const auto needed = row.needed_without_code_bytes();
  if (!needed) return {};
  if (!row.code_bytes) return fmt::format(" needs {} of device memory, plus its code", text_from_bytes(*needed));
  return fmt::format(" needs {} of device memory", text_from_bytes(clamped_sum(*needed, *row.code_bytes)));
}

std::optional<std::uint64_t> temporaries_of(const ProgramMemoryRow& row) {
  return row.live_temp_bytes ? row.live_temp_bytes : row.temp_bytes;
}

std::string sum_text(const ProgramMemoryRow& row) {
  if (!row.argument_bytes) return ", by memory space; its arguments, outputs and temporaries are unknown";
  return fmt::format(": arguments {} + outputs {} − aliased {} + temporaries {}{}",
                     text_from_known_bytes(row.argument_bytes), text_from_known_bytes(row.output_bytes),
                     text_from_known_bytes(row.alias_bytes), text_from_known_bytes(temporaries_of(row)),
                     row.code_bytes ? " + code " + text_from_bytes(*row.code_bytes) : "");
}

Document figures_of(const ProgramMemoryRow& row) {
  Document part;
  part.add(Figures{{{"name", value_of(row.name)},
                    {"argument_bytes", value_of(row.argument_bytes), Unit::bytes},
                    {"output_bytes", value_of(row.output_bytes), Unit::bytes},
                    {"alias_bytes", value_of(row.alias_bytes), Unit::bytes},
                    {"temp_bytes", value_of(row.temp_bytes), Unit::bytes},
                    {"live_temp_bytes", value_of(row.live_temp_bytes), Unit::bytes},
                    {"is_scheduled", row.is_scheduled},
                    {"generated_code_bytes", value_of(row.code_bytes), Unit::bytes},
                    {"needed_without_code_bytes", value_of(row.needed_without_code_bytes()), Unit::bytes},
                    {"replayed_temp_bytes", value_of(row.replayed_temp_bytes), Unit::bytes},
                    {"donatable_bytes", value_of(row.donatable_bytes), Unit::bytes}}});
  Document spaces{.key = "by_space"};
  Figures fields;
  for (const ProgramMemoryRow::Space& space : row.by_space)
    fields.fields.push_back({space.name, space.bytes, Unit::bytes});
  spaces.add(std::move(fields));
  part.add(std::move(spaces));
  return part;
}

void add_sentences(Document& document, const ProgramMemoryRow& row) {
  const auto add = [&](std::string text, Tone tone = Tone::plain) {
    document.add(Sentence{.text = std::move(text), .tone = tone});
  };
  add((row.name.empty() ? "Program" : "Program " + row.name) + needed_text(row) + sum_text(row) + ".");
  if (row.live_temp_bytes)
    add("Temporaries: the most bytes live at once, by shapes. XLA's own assignment may let more values share memory, "
        "or leave gaps.",
        Tone::dim);
  if (row.live_temp_bytes && !row.is_scheduled)
    add("This module is not scheduled: the real order of its instructions is unknown, and so is the peak.", Tone::dim);
  if (row.replayed_temp_bytes && row.temp_bytes) {
    const std::int64_t before = signed_from(*row.temp_bytes), after = signed_from(*row.replayed_temp_bytes);
    add(fmt::format("Temporaries repacked with XLA's published algorithm: {} ({}, {}).", text_from_bytes(after),
                    delta_text_from_bytes(after - before), delta_text_from_share(before, after)));
  }
  std::vector<std::vector<Value>> spaces;
  for (const ProgramMemoryRow::Space& space : row.by_space) spaces.push_back({space.bytes, space.name});
  document.add(for_readers({.columns = {{.title = "Bytes", .unit = Unit::bytes}, {.title = "Memory"}},
                            .rows = std::move(spaces),
                            .shown = row.by_space.size()}));
}

Table table_of_programs(const std::vector<NamedProgram>& programs) {
  std::vector<std::vector<Value>> cells;
  for (const NamedProgram& program : programs) {
    const ProgramMemoryRow& row = program.memory;
    cells.push_back({row.roughly_needed_bytes(), value_of(row.argument_bytes), value_of(row.output_bytes),
                     value_of(row.alias_bytes), value_of(temporaries_of(row)), value_of(row.name),
                     value_of(program.file)});
  }
  return {.columns = {{.title = "Needed", .unit = Unit::bytes},
                      {.title = "Arguments", .unit = Unit::bytes, .rank = 1},
                      {.title = "Outputs", .unit = Unit::bytes, .rank = 2},
                      {.title = "Aliased", .unit = Unit::bytes, .rank = 3},
                      {.title = "Temporaries", .unit = Unit::bytes, .rank = 1},
                      {.title = "Program"},
                      {.title = "File", .rank = 4, .is_dim = true}},
          .rows = std::move(cells)};
}

Result<Document> describe_program(const AnswerInput& input) {
  Document document;
  const auto row = find_program_memory(*input.trace);
  if (!row) return document;
  Document program = figures_of(*row);
  program.key = "program";
  program.audience = Audience::programs;
  document.add(std::move(program));
  add_sentences(document, *row);
  // Of a folder of dumps, or of a file that has several programs; the largest first.
  std::vector<NamedProgram> programs(input.programs.begin(), input.programs.end());
  if (programs.empty())
    for (ProgramMemoryRow& one : find_programs(*input.trace)) programs.push_back({{}, std::move(one)});
  if (programs.size() < 2) return document;
  Documents list{.key = "programs"};
  for (const NamedProgram& one : programs)
    list.list.push_back(std::move(figures_of(one.memory).add(Figures{{{"file", value_of(one.file)}}})));
  document.add(std::move(list));
  Table table = for_readers(table_of_programs(programs));
  table.title = fmt::format("{} programs, which aren't added up{}", programs.size(),
                            input.programs.empty() ? "" : "; this report is on the first, which needs the most");
  limit_rows(table, input.top, "--top 0 prints all", false);
  document.add(std::move(table));
  return document;
}

}  // namespace

constinit const AnswerRow program_answer{
    .name = "program",
    .title = "Program",
    .help = "What a compiler dump says its program needs",
    .needs_trace = true,
    .describe = describe_program,
};

}  // namespace hbmscope
