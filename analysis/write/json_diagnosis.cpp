#include "analysis/write/json_diagnosis.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/query/trace_user_code.h"
#include "analysis/write/json_optional.h"
#include "analysis/write/json_trace.h"

namespace hbmscope {
namespace {

using Json = nlohmann::ordered_json;

Json json_from_holders(const Holders& holders) {
  Json rows = Json::array();
  for (const Holder& one : holders.rows)
    rows.push_back(
        {{"name", one.name},
         {"bytes", one.bytes},
         {"blocks", one.blocks},
         {"share", holders.bytes == 0 ? Json(nullptr)
                                      : Json(static_cast<double>(one.bytes) / static_cast<double>(holders.bytes))},
         {"oldest_age_ns", or_null(one.oldest_ns)}});
  return rows;
}

Json json_from_budget(const DeviceBudget& budget) {
  Json parts = Json::array();
  for (const BudgetRow& row : budget.rows)
    parts.push_back(
        {{"part", text_from_part(row.part)}, {"name", row.name}, {"bytes", row.bytes}, {"is_derived", row.is_derived}});
  return {{"total_bytes", budget.total_bytes}, {"over_bytes", budget.over_bytes}, {"parts", std::move(parts)}};
}

Json json_from_growth(const Growth& growth) {
  Json survivors = Json::array();
  for (const Holder& one : growth.survivors)
    survivors.push_back({{"name", one.name}, {"bytes", one.bytes}, {"blocks", one.blocks}});
  return {{"step", growth.step},
          {"steps", growth.steps},
          {"bytes_per_step", growth.bytes_per_step},
          {"is_steady", growth.is_steady},
          {"survivor_bytes", growth.survivor_bytes},
          {"survivors", std::move(survivors)},
          {"kept_bytes", growth.kept_bytes},
          {"held_by", or_null(growth.held_by)},
          {"made_at", or_null(made_at(growth))}};
}

Json json_from_blockers(const Definitions& definitions, const std::optional<CheapestPlace>& place) {
  Json rows = Json::array();
  if (!place) return rows;
  for (const LiveBlock& block : place->blocks)
    rows.push_back({{"address", fmt::format("{:#x}", block.address)},
                    {"size_bytes", block.size},
                    {"your_code", user_code_text(definitions, block.stack)}});
  return rows;
}

Json json_from_segments(const WholeSegments& segments) {
  Json rows = Json::array();
  for (const AddressRange& range : segments.segments)
    rows.push_back({{"address", fmt::format("{:#x}", range.begin)}, {"size_bytes", range.size()}});
  return {{"bytes", segments.bytes},
          {"in_use_bytes", segments.in_use_bytes},
          {"blocks", segments.blocks},
          {"is_smallest", segments.is_smallest},
          {"segments", std::move(rows)}};
}

}  // namespace

Json json_from_pool_costs(const PoolCosts& costs) {
  Json parts = Json::array();
  for (const PoolCostPart& part : costs.parts)
    parts.push_back({{"cost", name_from_pool_cost(part.cost)},
                     {"bytes", part.bytes},
                     {"alone_bytes", part.cost == PoolCost::fragmentation ? Json(nullptr) : Json(part.alone_bytes)}});
  return {{"events", costs.position},
          {"since_start_ns", or_null(costs.since_start_ns)},
          {"pool_bytes", costs.pool_bytes},
          {"recorded_pool_bytes", or_null(costs.recorded_pool_bytes)},
          {"requested_bytes", costs.requested_bytes},
          {"confidence", text_from_confidence(costs.confidence)},
          {"parts", std::move(parts)}};
}

Json json_from_outlook(const Outlook& outlook) {
  return {{"sentence", text_from_outlook(outlook)},
          {"growth", json_from_growth(outlook.growth)},
          {"limit_bytes", or_null(outlook.limit_bytes)},
          {"may_grow", outlook.may_grow},
          {"steps_at_most", or_null(outlook.steps_at_most)}};
}

Json json_from_diagnosis(const Trace& trace, const Diagnosis& diagnosis) {
  Json json = json_from_failure_rows({diagnosis.row}).front();
  const CauseOfFailure& cause = diagnosis.cause;
  json["verdict"] = text_from_cause(cause.cause);
  json["immediate_verdict"] = text_from_cause(cause.immediate);
  json["sentence"] = cause.sentence;
  Json evidence = Json::array();
  for (const Evidence& one : cause.evidence)
    evidence.push_back({{"text", one.text}, {"line", or_null(one.line)}, {"event", or_null(one.event)}});
  json["evidence"] = std::move(evidence);
  json["unknown"] = or_null(cause.unknowns);
  json["how_to_know"] = or_null(cause.how_to_know);
  json["last_fit_events"] = or_null(diagnosis.facts.last_fit);
  const bool has_holders = !diagnosis.holders.rows.empty();
  json["holders_by"] = has_holders ? Json(text_from_by(diagnosis.holders.by)) : Json(nullptr);
  json["holders_bytes"] = has_holders ? Json(diagnosis.holders.bytes) : Json(nullptr);
  json["holders"] = has_holders ? json_from_holders(diagnosis.holders) : Json(nullptr);
  json["blockers"] = json_from_blockers(trace.streams[diagnosis.stream].definitions(), diagnosis.facts.place);
  json["fewest_blockers"] = json_from_blockers(
      trace.streams[diagnosis.stream].definitions(),
      diagnosis.facts.place_of_fewest_blocks ? diagnosis.facts.place_of_fewest_blocks : diagnosis.facts.place);
  json["whole_segments"] = diagnosis.segments ? json_from_segments(*diagnosis.segments) : Json(nullptr);
  json["holders_since_last_fit"] =
      diagnosis.holders_since_fit.rows.empty() ? Json(nullptr) : json_from_holders(diagnosis.holders_since_fit);
  json["device_budget"] = diagnosis.budget ? json_from_budget(*diagnosis.budget) : Json(nullptr);
  json["pool_costs"] = diagnosis.pool_costs ? json_from_pool_costs(*diagnosis.pool_costs) : Json(nullptr);
  json["growth"] = diagnosis.growth ? json_from_growth(*diagnosis.growth) : Json(nullptr);
  Json advice = Json::array();
  for (const Advice& one : diagnosis.advice)
    advice.push_back({{"change", one.change},
                      {"why", one.why},
                      {"price", or_null(one.price)},
                      {"proof", text_from_proof(one.proof)},
                      {"proof_text", or_null(one.proof_text)},
                      {"room_bytes", or_null(one.room_bytes)},
                      {"steps_at_most", or_null(one.steps_at_most)}});
  json["advice"] = std::move(advice);
  return json;
}

}  // namespace hbmscope
