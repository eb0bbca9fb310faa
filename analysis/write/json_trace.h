// Results on traces as JSON. app/cli/JSON.md describes the schema.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/query/heap_rows.h"
#include "analysis/trace/moment.h"

namespace hbmscope {

nlohmann::ordered_json json_from_event_counts(const EventCounts& counts);
nlohmann::ordered_json json_from_failure_rows(const std::vector<FailureRow>& rows);
nlohmann::ordered_json json_from_moment(const Trace& trace, const Moment& moment);

}  // namespace hbmscope
