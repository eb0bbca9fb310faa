// Why requests failed, as JSON. app/cli/JSON.md describes the schema.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analysis/diagnose/diagnosis.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// An object of failures[] with the figures that every command has, and verdict, sentence, evidence[], holders[],
// blockers[], advice[].
nlohmann::ordered_json json_from_diagnosis(const Trace& trace, const Diagnosis& diagnosis);

// What a heap in which nothing failed grows by.
nlohmann::ordered_json json_from_outlook(const Outlook& outlook);

nlohmann::ordered_json json_from_pool_costs(const PoolCosts& costs);

}  // namespace hbmscope
