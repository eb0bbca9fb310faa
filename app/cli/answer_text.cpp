#include "app/cli/answer_text.h"

#include <fmt/format.h>

#include "analysis/document/json.h"
#include "analysis/units/format.h"
#include "analysis/write/json.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

Result<std::string> text_from_answer(const Document& document, const nlohmann::ordered_json& head, std::size_t brief) {
  nlohmann::ordered_json json = {{"schema", json_schema}};
  if (!head.is_null()) json.update(head);
  json.update(json_from_document(document, brief > 0 ? Keys::current : Keys::with_old_ones));
  return text_from_answer(json, brief);
}

Result<std::string> text_from_answer(const nlohmann::ordered_json& json, std::size_t brief) {
  if (brief == 0) return text_from_json(json);
  const auto shortened = brief_from_json(json, brief);
  if (!shortened)
    return Failure(refusal(fmt::format("the answer is longer than {} characters", text_from_count(brief)),
                           "Give --brief more, or leave it out."));
  return line_from_json(*shortened);
}

std::string json_from_error(const Error& error) {
  nlohmann::ordered_json json = {{"schema", json_schema}, {"error", {{"what", error.what}, {"remedy", error.remedy}}}};
  if (!error.file.empty()) json["error"]["file"] = error.file;
  if (error.offset) json["error"]["byte"] = *error.offset;
  return text_from_json(json);
}

}  // namespace hbmscope::cli
