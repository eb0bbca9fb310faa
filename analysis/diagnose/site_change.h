// What-if about one line of your code: its blocks freed earlier, or donated (RequestChange of
// analysis/whatif/scenario.h).
#pragma once

#include <string_view>

#include "analysis/diagnose/savings_sites.h"
#include "analysis/model/result.h"
#include "analysis/whatif/what_if.h"

namespace hbmscope {

enum class SiteChange : std::uint8_t { freed_earlier, donated };

// The job's own settings, with the blocks of one line changed. The line is named by its file and number ("train.py:48",
// as much of the path as needed), or by a function. Errors: nothing was requested there; nothing would change.
Result<Scenario> find_site_change(const Trace& trace, const WhatIfSource& source, SiteChange change,
                                  std::string_view line);

// From words that a user types: "free=train.py:48", "donate=train.py:48", or those of scenario_from. Errors: of either.
Result<Scenario> find_scenario(const Trace& trace, const WhatIfSource& source, std::string_view words);

}  // namespace hbmscope
