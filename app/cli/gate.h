// --fail-if: the filter language over one report or comparison, for scripts and CI. An expression that names a device
// or a kind is asked of every device or kind; any other of the totals. The first that holds fails the gate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/query/diff.h"
#include "analysis/query/profile_view.h"

namespace hbmscope::cli {

// What held, in words; nothing where the gate passes.
Result<std::optional<std::string>> find_gate_failure(const std::string& expression, const ProfileView& view);
Result<std::optional<std::string>> find_gate_failure(const std::string& expression, const ProfileDiff& diff);

}  // namespace hbmscope::cli
