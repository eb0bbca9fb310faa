#include "app/cli/program_values.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/query/profile_view.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_optional.h"
#include "app/cli/report_address.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

using Json = nlohmann::ordered_json;

std::string text_from_program_values(const Trace& trace, const std::vector<ProgramPart>& parts, std::size_t limit) {
  const ProgramPart& part = parts.front();
  if (!part.is_temporary()) return {};
  std::vector<ProgramValue> values = find_program_values(trace, part);
  const std::size_t all = values.size();
  std::stable_sort(values.begin(), values.end(),
                   [](const ProgramValue& a, const ProgramValue& b) { return a.size > b.size; });
  values.resize(std::min(values.size(), limit));
  const Stream& stream = trace.streams[part.stream];
  const Definitions& definitions = stream.definitions();
  std::string text;
  for (const ProgramValue& value : values)
    text += fmt::format("  {:>10}  at +{:<10}  events {} to {} of {}  {}  {}  {}\n", text_from_bytes(value.size),
                        text_from_bytes(value.offset), value.begin, value.end, stream.end_position(),
                        printable(definitions.text(value.tag)), printable(value.shape),
                        own_line_text(definitions, value.stack));
  if (values.size() < all) text += fmt::format("  {} of {} values\n", values.size(), all);
  return text;
}

Json json_from_program_parts(const Trace& trace, const std::vector<ProgramPart>& parts) {
  Json rows = Json::array();
  for (const ProgramPart& part : parts) {
    const Definitions& definitions = trace.streams[part.stream].definitions();
    Json row = {{"program", or_null(valid_utf8(part.program))},
                {"stream", part.stream},
                {"kind", valid_utf8(part.kind)},
                {"value", or_null(valid_utf8(part.value))},
                {"shape", or_null(valid_utf8(part.shape))},
                {"size_bytes", part.range.size()}};
    row["values"] = Json::array();
    if (part.is_temporary())
      for (const ProgramValue& value : find_program_values(trace, part))
        row["values"].push_back({{"name", valid_utf8(definitions.text(value.tag))},
                                 {"shape", or_null(valid_utf8(value.shape))},
                                 {"offset_bytes", value.offset},
                                 {"size_bytes", value.size},
                                 {"begin_event", value.begin},
                                 {"end_event", value.end},
                                 {"own_line", own_line_text(definitions, value.stack)}});
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace hbmscope::cli
