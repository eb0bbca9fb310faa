#include "analysis/answers/program_parts.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/answers/answer_table.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

Table table_of_values(const Trace& trace, const ProgramPart& part, const std::vector<ProgramValue>& values) {
  const Stream& stream = trace.streams[part.stream];
  const Definitions& definitions = stream.definitions();
  std::vector<std::vector<Value>> cells;
  for (const ProgramValue& value : values)
    cells.push_back({value.size, value.offset,
                     fmt::format("{} to {} of {}", value.begin, value.end, stream.end_position()),
                     std::string(definitions.text(value.tag)), value_of(std::string(value.shape)), value.begin,
                     value.end, place_of_stack(definitions, value.stack)});
  return {.key = "values",
          .columns = {{.key = "size_bytes", .title = "Bytes", .unit = Unit::bytes},
                      {.key = "offset_bytes", .title = "At", .unit = Unit::bytes, .rank = 3},
                      {.title = "Events", .rank = 4},
                      {.key = "name", .title = "Value"},
                      {.key = "shape", .title = "Shape", .rank = 1},
                      {.key = "begin_event", .unit = Unit::count},
                      {.key = "end_event", .unit = Unit::count},
                      {.key = "own_line", .title = "Your code", .rank = 2}},
          .rows = std::move(cells)};
}

Result<Document> describe_program_blocks(const AnswerInput& input) {
  constexpr std::size_t blocks_shown = 3;
  Document document;
  const ProgramParts parts(*input.trace);
  if (parts.is_empty()) return document;
  const auto found = find_program_blocks(*input.trace, *input.states, parts);
  Documents blocks{.key = "program_blocks", .audience = Audience::everyone};
  for (const ProgramBlock& one : found) {
    const LiveBlock block = (*input.states)[one.stream].slots()[one.slot];
    const HeapInfo& heap = input.trace->streams[one.stream].definitions().heap(block.heap);
    Document& shown = blocks.list.emplace_back();
    shown.title = fmt::format("{} at {:#x} in {}, by its size: {}", text_from_bytes(block.size), block.address,
                              heap.name, text_from_parts(one.parts));
    shown.add(Figures{{{"stream", std::uint64_t{one.stream}, Unit::count},
                       {"heap", heap.name},
                       {"address", block.address, Unit::address},
                       {"size_bytes", block.size, Unit::bytes}}});
    shown.add(describe_program_parts(*input.trace, one.parts, "parts"));
    if (blocks.list.size() > blocks_shown)
      shown.audience = Audience::programs;
    else if (input.is_for(Audience::readers))
      shown.add(describe_program_values(*input.trace, one.parts));
  }
  document.add(std::move(blocks));
  if (found.size() > blocks_shown)
    document.add(Sentence{.text = fmt::format("{} of {} blocks with temporaries of programs; --json has all.",
                                              blocks_shown, text_from_count(found.size())),
                          .tone = Tone::dim});
  return document;
}

}  // namespace

std::string place_of_stack(const Definitions& definitions, std::uint32_t stack) {
  if (stack == 0) return "(no stack)";
  const auto frame = find_own_frame(definitions, stack);
  if (!frame) return std::string(no_user_code_text(definitions, stack));
  return fmt::format("{}  {}:{}", definitions.text(frame->function), definitions.text(frame->file), frame->line);
}

Documents describe_program_parts(const Trace& trace, const std::vector<ProgramPart>& parts, std::string key) {
  Documents list{.key = std::move(key)};
  for (const ProgramPart& part : parts) {
    Document& one = list.list.emplace_back();
    one.add(Figures{{{"program", value_of(std::string(part.program))},
                     {"stream", std::uint64_t{part.stream}, Unit::count},
                     {"kind", std::string(part.kind)},
                     {"value", value_of(std::string(part.value))},
                     {"shape", value_of(std::string(part.shape))},
                     {"size_bytes", part.range.size(), Unit::bytes}}});
    one.add(table_of_values(
        trace, part, part.is_temporary() ? find_program_values(trace, part) : std::vector<ProgramValue>()));
  }
  return list;
}

Table describe_program_values(const Trace& trace, const std::vector<ProgramPart>& parts) {
  std::vector<ProgramValue> values;
  if (parts.front().is_temporary()) values = find_program_values(trace, parts.front());
  std::stable_sort(values.begin(), values.end(),
                   [](const ProgramValue& a, const ProgramValue& b) { return a.size > b.size; });
  return for_readers(table_of_values(trace, parts.front(), values));
}

constinit const AnswerRow program_blocks_answer{
    .name = "program_blocks",
    .title = "Blocks of programs",
    .help = "Blocks with temporaries of compiled programs, and the values in them",
    .needs_trace = true,
    .describe = describe_program_blocks,
};

}  // namespace hbmscope
