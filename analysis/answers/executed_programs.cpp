// The compiled programs of a JAX job: what each needs, by its compiler's figures.
#include "analysis/query/executed_programs.h"
#include "analysis/answers/answer_table.h"

namespace hbmscope {
namespace {

Result<Document> describe_executed_programs(const AnswerInput& input) {
  std::vector<std::vector<Value>> cells;
  for (const ExecutedProgram& row : find_executed_programs(*input.trace))
    cells.push_back({row.needed_bytes(), row.argument_bytes, row.output_bytes, row.aliased_bytes, row.temporary_bytes,
                     row.name, row.compiled, row.code_bytes});
  Document document;
  document.add(Table{
      .key = "executed_programs",
      .title = "Compiled programs, on each device",
      .columns = {{.key = "needed_bytes",
                   .title = "Needs",
                   .unit = Unit::bytes,
                   .meaning = "Arguments + outputs − donated + temporaries."},
                  {.key = "argument_bytes", .title = "Arguments", .unit = Unit::bytes, .rank = 1},
                  {.key = "output_bytes", .title = "Outputs", .unit = Unit::bytes, .rank = 2},
                  {.key = "aliased_bytes", .title = "Of which donated", .unit = Unit::bytes, .rank = 3},
                  {.key = "temporary_bytes", .title = "Temporaries", .unit = Unit::bytes, .rank = 1},
                  {.key = "name", .title = "Program"},
                  {.key = "compiled", .title = "Compiled", .unit = Unit::count, .rank = 4, .is_hidden = true},
                  {.key = "code_bytes", .title = "Code", .unit = Unit::bytes, .rank = 5, .is_hidden = true}},
      .rows = std::move(cells),
      .how_to_show_more = "--json has all"});
  return document;
}

}  // namespace

constinit const AnswerRow executed_programs_answer{
    .name = "executed_programs",
    .title = "Executed programs",
    .help = "What each compiled program of a JAX job needs",
    .needs_trace = true,
    .describe = describe_executed_programs,
};

}  // namespace hbmscope
