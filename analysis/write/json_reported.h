// What a trace reports besides its blocks, as JSON: facts about the job, counters, attributes, modules. The schema is
// described in app/cli/JSON.md.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analysis/query/job_facts.h"
#include "analysis/query/reported_rows.h"

namespace hbmscope {

nlohmann::ordered_json json_from_job_facts(const std::vector<JobFactRow>& facts);
nlohmann::ordered_json json_from_counter_rows(const std::vector<CounterRow>& rows);
nlohmann::ordered_json json_from_attribute_rows(const std::vector<AttributeRow>& rows);
nlohmann::ordered_json json_from_modules(const std::vector<ModuleRow>& rows);

}  // namespace hbmscope
