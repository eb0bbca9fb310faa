// Why a pool is larger than what the program requested, as tables.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analysis/diagnose/pool_costs.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

// At one time; one row per cost. `pool` is its name.
std::string text_from_pool_costs(const PoolCosts& costs, std::string_view pool, const Terminal& terminal);
// Over time; one row per time, and one column per cost. Empty for less than two times.
std::string text_from_pool_costs_over_time(std::span<const PoolCosts> times, const Terminal& terminal);

}  // namespace hbmscope::cli
