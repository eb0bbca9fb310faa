#include "analysis/write/json_blocks.h"

#include "analysis/write/json_optional.h"

namespace hbmscope {
namespace {

using Json = nlohmann::ordered_json;

Json json_from_change(const BlockChange& change) {
  return {{"count", change.count},
          {"baseline_bytes", change.baseline_bytes},
          {"now_bytes", change.now_bytes},
          {"delta_bytes", change.delta_bytes()}};
}

void add_changes(Json& json, const BlockChanges& changes) {
  json["delta_bytes"] = changes.delta_bytes();
  json["new"] = json_from_change(changes.added);
  json["gone"] = json_from_change(changes.gone);
  json["grown"] = json_from_change(changes.grown);
  json["shrunk"] = json_from_change(changes.shrunk);
  json["moved"] = json_from_change(changes.moved);
  json["unchanged"] = json_from_change(changes.unchanged);
}

}  // namespace

Json json_from_settings(const std::vector<SettingChange>& settings) {
  Json list = Json::array();
  for (const SettingChange& setting : settings)
    list.push_back({{"key", setting.key}, {"baseline", or_null(setting.baseline)}, {"now", or_null(setting.now)}});
  return list;
}

Json json_from_block_diff(const BlockDiff& diff, std::size_t limit) {
  Json json = {{"matched_by", diff.is_by_id ? "id" : "stack and size"}};
  add_changes(json, diff.changes);
  Json rows = Json::array();
  for (const BlockDiffRow& row : diff.user_code) {
    if (limit != 0 && rows.size() == limit) break;
    Json entry = {{"name", or_null(row.function)},
                  {"file", or_null(row.file)},
                  {"line", row.line == 0 ? Json(nullptr) : Json(row.line)},
                  {"thread", row.is_autograd_thread ? Json("autograd") : Json(nullptr)}};
    add_changes(entry, row.changes);
    rows.push_back(std::move(entry));
  }
  json["own_code"] = std::move(rows);
  return json;
}

}  // namespace hbmscope
