// {"snap": i, ...} and {"final": i, ...}: the state after i operations.
#pragma once

#include "analysis/read/requests/request_line.h"

namespace hbmscope {

LineResult<allocator::RecordedState> state_from_json(const nlohmann::json& line);

}  // namespace hbmscope
