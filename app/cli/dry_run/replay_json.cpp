#include <nlohmann/json.hpp>

#include "allocator/reference/interface/fragmentation.h"
#include "allocator/reference/replay/verdict.h"
#include "analysis/diagnose/cause.h"
#include "analysis/write/json.h"
#include "analysis/write/json_optional.h"
#include "app/cli/dry_run/replay.h"

namespace hbmscope::cli {
namespace {

using Json = nlohmann::ordered_json;
namespace xla_gpu = allocator::xla_gpu;

Json limit_or_null(std::uint64_t bytes) {
  return bytes == allocator::no_limit ? Json(nullptr) : Json(bytes);
}

}  // namespace

void add_cause(const allocator::ReplayFailure& failure, Json& json) {
  const auto cause = cause_from(verdict_of(failure));
  json["cause"] = cause ? Json(row_of(*cause).key) : Json(nullptr);
  json["cause_title"] = cause ? Json(row_of(*cause).title) : Json(nullptr);
}

namespace {

Json json_from_failure(const allocator::ReplayFailure& failure, std::string_view allocator_name) {
  Json unknowns = Json::array({"device"});
  if (failure.driver_left_bytes == allocator::no_limit) unknowns.push_back("available_bytes");
  if (failure.statistics.limit_bytes == allocator::no_limit) unknowns.push_back("limit_bytes");
  const bool is_collective = failure.request.space == allocator::Space::collective;
  Json json = {
      {"operation", failure.operation},
      {"line", failure.line == 0 ? Json(nullptr) : Json(failure.line)},
      {"asked_bytes", failure.request.bytes},
      {"rounded_bytes", failure.rounded_bytes},
      {"alignment_bytes", failure.request.alignment},
      {"available_bytes", limit_or_null(failure.driver_left_bytes)},
      {"used_bytes", failure.statistics.in_use_bytes},
      {"total_free_bytes", failure.free_bytes},
      {"largest_free_bytes", failure.largest_usable_bytes},
      {"pool_bytes", failure.statistics.pool_bytes},
      {"limit_bytes", limit_or_null(failure.statistics.limit_bytes)},
      {"memory_space", is_collective ? "collective" : "default"},
      {"device", nullptr},
      {"allocator", allocator_name},
      {"verdict", text_from_verdict(verdict_of(failure))},
      {"fault", failure.fault == allocator::Fault::none ? Json(nullptr) : Json(text_from_fault(failure.fault))},
      {"unknowns", std::move(unknowns)}};
  add_cause(failure, json);
  return json;
}

void add_result(Json& json, const allocator::ReplayResult& result, std::string_view allocator_name) {
  const allocator::Statistics& statistics = result.statistics;
  const std::uint64_t free = statistics.pool_bytes - result.in_use_bytes;
  json["operations"] = result.operations;
  json["allocations"] = result.allocations;
  json["refused"] = result.refused;
  json["zero_requests"] = result.zero_requests;
  json["frees"] = result.frees;
  json["in_use_bytes"] = result.in_use_bytes;
  json["requested_bytes"] = result.requested_bytes;
  json["peak_in_use_bytes"] = result.peak_in_use_bytes;
  json["peak_operation"] = result.peak_operation;
  json["peak_requested_bytes"] = result.peak_requested_bytes;
  json["pool_bytes"] = statistics.pool_bytes;
  json["peak_pool_bytes"] = statistics.peak_pool_bytes;
  json["free_bytes"] = free;
  json["largest_free_bytes"] = statistics.largest_free_bytes;
  json["external_fragmentation"] = or_null(external_fragmentation_of(free, statistics.largest_free_bytes));
  json["internal_fragmentation"] = or_null(internal_fragmentation_of(result.in_use_bytes, result.requested_bytes));
  json["chunks"] = result.chunks;
  json["driver_claims"] = result.driver_claims;
  json["driver_refusals"] = result.driver_refusals;
  json["driver_releases"] = result.driver_releases;
  json["fault"] = result.fault == allocator::Fault::none ? Json(nullptr) : Json(text_from_fault(result.fault));
  json["failures"] = Json::array();
  if (result.first_failure) json["failures"].push_back(json_from_failure(*result.first_failure, allocator_name));
}

Json json_from_check(const allocator::CheckResult& check) {
  Json difference = nullptr;
  if (check.difference)
    difference = {{"line", check.difference->line == 0 ? Json(nullptr) : Json(check.difference->line)},
                  {"what", check.difference->what},
                  {"recorded", check.difference->recorded},
                  {"replayed", check.difference->replayed}};
  return {{"agrees", !check.difference},
          {"first_difference", std::move(difference)},
          {"answers", check.answers},
          {"region_events", check.events},
          {"states", check.states},
          {"requests_without_answer", check.without_answer},
          {"unknown_names", check.unknown_names}};
}

}  // namespace

nlohmann::ordered_json json_from_replay(const ReplayAnswers& answers) {
  const auto* xla = std::get_if<xla_gpu::Options>(&answers.options);
  const std::string_view name = allocator::name_of(answers.options);
  const auto limit_bytes = allocator::row_of(answers.options).limit_bytes;
  Json json = {{"schema", json_schema},
               {"file", answers.file},
               {"allocator", name},
               {"version", xla != nullptr ? Json(xla_gpu::rules_of(xla->version).name) : Json(nullptr)},
               {"certainty", text_from_certainty(allocator::certainty_of(answers.options))},
               {"limit_bytes", limit_bytes != nullptr ? or_null(limit_bytes(answers.options)) : Json(nullptr)},
               {"device_bytes", or_null(answers.config.upstream.device_bytes)}};
  if (answers.result) add_result(json, *answers.result, name);
  if (answers.check) json["check"] = json_from_check(*answers.check);
  if (answers.speed) json["ns_per_op"] = answers.speed->ns_per_operation;
  return json;
}

}  // namespace hbmscope::cli
