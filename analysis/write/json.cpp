#include "analysis/write/json.h"

#include <nlohmann/json.hpp>

#include "analysis/answers/summary.h"
#include "analysis/document/json.h"
#include "analysis/write/json_text.h"

namespace hbmscope {
using Json = nlohmann::ordered_json;

Json json_from_view(const ProfileView& view) {
  Json json = {{"schema", json_schema}};
  json.update(json_from_document(describe_summary(view)));
  json["import"] = json_from_table(describe_import(view.profile->import));
  return json;
}

std::string text_from_json(const Json& json) {
  return json_with_escaped_controls(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string line_from_json(const Json& json) {
  return json_with_escaped_controls(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace hbmscope
