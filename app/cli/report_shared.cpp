// What several files of one job say about the same memory.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/query/same_memory.h"
#include "analysis/read/source/read_source.h"
#include "analysis/units/utf8.h"
#include "app/cli/options.h"
#include "app/cli/report_section.h"

namespace hbmscope::cli {
namespace {

Result<std::string> text_of_shared(const ReportInput& input, const ReportStyle&) {
  std::string text;
  for (const SharedHeap& shared : find_shared_heaps(*input.source.trace, input.source.states))
    text += "Counted once: " + printable(text_from_shared_heap(shared)) + ".\n";
  return text.empty() ? text : "\n" + text;
}

Result<void> add_shared(nlohmann::ordered_json& json, const ReportInput& input) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const SharedHeap& shared : find_shared_heaps(*input.source.trace, input.source.states))
    rows.push_back({{"stream", shared.stream},
                    {"heap", shared.heap},
                    {"other_stream", shared.other_stream},
                    {"other_heap", shared.other_heap},
                    {"blocks", shared.blocks},
                    {"bytes", shared.bytes},
                    {"found", shared.found},
                    {"found_bytes", shared.found_bytes},
                    {"stacks_lent", shared.stacks_lent},
                    {"found_by", shared.is_by_size ? "size" : "address and size"}});
  if (!rows.empty()) json["counted_once"] = std::move(rows);
  return {};
}

}  // namespace

ReportSection shared_section() {
  return {.name = "counted_once", .needs_trace = true, .text = text_of_shared, .add_json = add_shared};
}

}  // namespace hbmscope::cli
