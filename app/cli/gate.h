// --fail-if: the filter language over one report or comparison, for scripts and CI. A condition that names a device or
// a kind is checked for every device or kind, any other for the totals. The first that is true fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/query/diff.h"
#include "analysis/query/profile_view.h"

namespace hbmscope::cli {

// What was true, as a sentence; nothing if no condition was.
Result<std::optional<std::string>> find_gate_failure(const std::string& expression, const ProfileView& view);
Result<std::optional<std::string>> find_gate_failure(const std::string& expression, const ProfileDiff& diff);

}  // namespace hbmscope::cli
