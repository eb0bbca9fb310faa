#include "analysis/write/json_reported.h"

#include <fmt/format.h>

#include "analysis/write/json_optional.h"

namespace hbmscope {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json json_from_job_facts(const std::vector<JobFactRow>& facts) {
  Json list = Json::array();
  for (const JobFactRow& fact : facts) list.push_back({{"key", fact.key}, {"values", fact.values}});
  return list;
}

Json json_from_counter_rows(const std::vector<CounterRow>& rows) {
  Json list = Json::array();
  for (const CounterRow& row : rows)
    list.push_back({{"name", row.name},
                    {"heap", or_null(row.heap)},
                    {"stream", row.stream},
                    {"value", or_null(row.value)},
                    {"least", or_null(row.least)},
                    {"most", or_null(row.most)},
                    {"samples", row.samples}});
  return list;
}

Json json_from_attribute_rows(const std::vector<AttributeRow>& rows) {
  Json list = Json::array();
  for (const AttributeRow& row : rows)
    list.push_back(
        {{"key", row.key}, {"count", row.count}, {"live_blocks", row.live_blocks}, {"live_bytes", row.live_bytes}});
  return list;
}

// Addresses go beyond what a number of JSON keeps.
Json json_from_modules(const std::vector<ModuleRow>& rows) {
  Json list = Json::array();
  for (const ModuleRow& row : rows)
    list.push_back({{"path", or_null(row.path)},
                    {"build_id", or_null(row.build_id)},
                    {"base_address", fmt::format("0x{:x}", row.base)},
                    {"size_bytes", row.size_bytes},
                    {"stream", row.stream}});
  return list;
}

}  // namespace hbmscope
