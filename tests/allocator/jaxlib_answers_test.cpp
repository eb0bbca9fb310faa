// Compares our answers with those of jaxlib's option function, version by version (recorded by ask_jaxlib.py).
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "allocator/reference/catalog/jax_plugin_options.h"

namespace hbmscope::allocator {
namespace {

using nlohmann::json;

std::vector<int> parts_of(std::string_view version) {
  std::vector<int> parts(1);
  for (const char c : version) {
    if (c == '.')
      parts.push_back(0);
    else
      parts.back() = parts.back() * 10 + (c - '0');
  }
  return parts;
}

// The last that is not newer.
const JaxlibRules& rules_for(const std::string& version) {
  const JaxlibRules* found = &all_jaxlib_rules().front();
  for (const JaxlibRules& rules : all_jaxlib_rules())
    if (parts_of(rules.since) <= parts_of(version)) found = &rules;
  return *found;
}

// In the form of the table; the fraction is converted to a number, because NaN is not equal to itself.
json json_from(const tl::expected<PluginOptions, std::string>& options) {
  if (!options) return {{"error", "ValueError: " + options.error()}};
  json answer = {{"allocator", options->allocator}};
  if (options->memory_fraction) answer["memory_fraction"] = std::to_string(*options->memory_fraction);
  if (options->preallocate) answer["preallocate"] = *options->preallocate;
  if (options->collective_memory_bytes) answer["collective_memory_size"] = *options->collective_memory_bytes;
  if (options->abort_collectives_on_failure)
    answer["abort_collectives_on_failure"] = *options->abort_collectives_on_failure;
  if (options->use_tfrt_gpu_client) answer["use_tfrt_gpu_client"] = *options->use_tfrt_gpu_client;
  return answer;
}

TEST(JaxlibAnswers, are_ours_to_every_setting_in_every_version) {
  std::ifstream table("tests/allocator/jaxlib_answers.jsonl");
  std::set<std::string> versions;
  int settings_seen = 0;
  for (std::string line; std::getline(table, line); ++settings_seen) {
    const json row = json::parse(line);
    std::vector<Setting> settings;
    for (const auto& [name, value] : row["set"].items()) settings.push_back({name, value.get<std::string>()});
    for (const json& group : row["answers"]) {
      json expected = group["answer"];
      if (expected.contains("memory_fraction"))
        expected["memory_fraction"] = std::to_string(std::stod(expected["memory_fraction"].get<std::string>()));
      for (const json& version : group["jaxlib"]) {
        versions.insert(version.get<std::string>());
        EXPECT_EQ(json_from(plugin_options(settings, rules_for(version))).dump(), expected.dump())
            << "jaxlib " << version << ", " << row["set"];
      }
    }
  }
  EXPECT_GE(settings_seen, 30);
  EXPECT_GE(versions.size(), 4U);
}

}  // namespace
}  // namespace hbmscope::allocator
