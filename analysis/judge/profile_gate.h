// --fail-if: the filter language applied to a report or comparison, for scripts and CI. A condition that names a device
// or a kind is checked for each device or kind, any other condition for the totals. The first condition that is true
// fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/query/diff.h"
#include "analysis/query/profile_view.h"

namespace hbmscope {

// The condition that was true, as a sentence; nothing if none was.
Result<std::optional<std::string>> find_gate_failure(const std::string& expression, const ProfileView& view);
Result<std::optional<std::string>> find_gate_failure(const std::string& expression, const ProfileDiff& diff);

}  // namespace hbmscope
