// The report section about compiled programs whose temporaries are in memory at that time.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/query/program_parts.h"
#include "analysis/read/source/read_source.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/options.h"
#include "app/cli/program_values.h"
#include "app/cli/report_section.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

constexpr std::size_t values_shown = 5, blocks_shown = 3;

LiveBlock block_of(const Source& source, const ProgramBlock& found) {
  return source.states[found.stream].slots()[found.slot];
}

Result<std::string> program_blocks_text(const ReportInput& input, const ReportStyle&) {
  const Source& source = input.source;
  const ProgramParts parts(*source.trace);
  const std::vector<ProgramBlock> blocks = find_program_blocks(*source.trace, source.states, parts);
  std::string text;
  for (std::size_t i = 0; i < std::min(blocks.size(), blocks_shown); ++i) {
    const LiveBlock block = block_of(source, blocks[i]);
    const HeapInfo& heap = source.trace->streams[blocks[i].stream].definitions().heap(block.heap);
    text += fmt::format("{} at 0x{:x} in {}, by its size: {}\n", text_from_bytes(block.size), block.address,
                        printable(heap.name), printable(text_from_parts(blocks[i].parts)));
    text += text_from_program_values(*source.trace, blocks[i].parts, values_shown);
  }
  if (blocks.size() > blocks_shown)
    text += fmt::format("{} of {} blocks with temporaries of programs; --json has all\n", blocks_shown, blocks.size());
  return text;
}

Result<void> add_program_blocks(nlohmann::ordered_json& json, const ReportInput& input) {
  const Source& source = input.source;
  const ProgramParts parts(*source.trace);
  if (parts.is_empty()) return {};
  json["program_blocks"] = nlohmann::ordered_json::array();
  for (const ProgramBlock& found : find_program_blocks(*source.trace, source.states, parts)) {
    const LiveBlock block = block_of(source, found);
    json["program_blocks"].push_back(
        {{"stream", found.stream},
         {"heap", valid_utf8(source.trace->streams[found.stream].definitions().heap(block.heap).name)},
         {"address", fmt::format("0x{:x}", block.address)},
         {"size_bytes", block.size},
         {"parts", json_from_program_parts(*source.trace, found.parts)}});
  }
  return {};
}

}  // namespace

ReportSection program_blocks_section() {
  return {.name = "program_blocks", .needs_trace = true, .text = program_blocks_text, .add_json = add_program_blocks};
}

}  // namespace hbmscope::cli
