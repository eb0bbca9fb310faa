#include "app/cli/brief.h"

#include <fmt/format.h>

#include "analysis/document/json.h"
#include "analysis/units/format.h"
#include "analysis/write/json.h"

namespace hbmscope::cli {

Result<std::string> text_from_answer(const nlohmann::ordered_json& json, std::size_t brief) {
  if (brief == 0) return text_from_json(json);
  const auto shortened = brief_from_json(json, brief);
  if (!shortened)
    return Failure(refusal(fmt::format("the answer is longer than {} characters", text_from_count(brief)),
                           "Give --brief more, or leave it out."));
  return line_from_json(*shortened);
}

}  // namespace hbmscope::cli
