// The report section about what the memory is for, and who holds it.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/query/label_rows.h"
#include "analysis/read/source/read_source.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_optional.h"
#include "app/cli/report_section.h"
#include "app/cli/report_text.h"

namespace hbmscope::cli {
namespace {

constexpr std::size_t holders_shown = 8;  // JSON has all of them.

std::string category_or_dash(Category category) {
  return category == Category::unknown ? "–" : std::string(text_from_category(category));
}

Result<std::string> labels_text(const ReportInput& input, const ReportStyle& style) {
  const auto categories = compute_category_rows(*input.source.trace, input.source.states);
  const auto holders = compute_holder_rows(*input.source.trace, input.source.states);
  std::string text;
  if (!categories.empty()) {
    std::uint64_t all = 0;
    for (const CategoryRow& row : categories) all += row.bytes;
    std::vector<std::vector<std::string>> rows;
    for (const CategoryRow& row : categories)
      rows.push_back({text_from_bytes(row.bytes),
                      text_from_share(static_cast<std::int64_t>(row.bytes), static_cast<std::int64_t>(all)),
                      text_from_count(row.blocks), std::string(text_from_category(row.category))});
    text += text_from_columns({{"bytes", true}, {"share", true}, {"blocks", true}, {"used for", false}}, rows,
                              style.terminal.style());
  }
  if (!holders.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < std::min(holders.size(), holders_shown); ++i)
      rows.push_back({text_from_bytes(holders[i].bytes), text_from_count(holders[i].blocks),
                      category_or_dash(holders[i].category), printable(holders[i].name), printable(holders[i].holder)});
    text +=
        text_from_columns({{"bytes", true}, {"blocks", true}, {"used for", false}, {"name", false}, {"held by", false}},
                          rows, style.terminal.style());
    if (holders.size() > holders_shown)
      text += fmt::format("{} of {} names; --json has all\n", holders_shown, text_from_count(holders.size()));
  }
  return text;
}

Result<void> add_labels(nlohmann::ordered_json& json, const ReportInput& input) {
  json["categories"] = nlohmann::ordered_json::array();
  for (const CategoryRow& row : compute_category_rows(*input.source.trace, input.source.states))
    json["categories"].push_back(
        {{"category", text_from_category(row.category)}, {"bytes", row.bytes}, {"blocks", row.blocks}});
  json["holders"] = nlohmann::ordered_json::array();
  for (const HolderRow& row : compute_holder_rows(*input.source.trace, input.source.states))
    json["holders"].push_back(
        {{"name", valid_utf8(row.name)},
         {"held_by", or_null(valid_utf8(row.holder))},
         {"category", row.category == Category::unknown ? nlohmann::ordered_json(nullptr)
                                                        : nlohmann::ordered_json(text_from_category(row.category))},
         {"bytes", row.bytes},
         {"blocks", row.blocks}});
  return {};
}

}  // namespace

ReportSection labels_section() {
  return {.name = "categories", .needs_trace = true, .text = labels_text, .add_json = add_labels};
}

}  // namespace hbmscope::cli
