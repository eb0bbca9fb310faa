#include "analysis/write/json_trace.h"

#include "analysis/answers/failure.h"
#include "analysis/document/json.h"

namespace hbmscope {

using Json = nlohmann::ordered_json;

Json json_from_failure_rows(const std::vector<FailureRow>& rows) {
  Json list = Json::array();
  for (const FailureRow& row : rows) list.push_back(json_from_document(describe_failure_row(row)));
  return list;
}

}  // namespace hbmscope
