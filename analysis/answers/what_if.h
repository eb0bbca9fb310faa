// What would have happened under other settings, as a document.
#pragma once

#include <string>
#include <vector>

#include "analysis/document/document.h"
#include "analysis/whatif/what_if.h"

namespace hbmscope {

// `growth`: of a job that leaked, what it kept (text_from_growth); empty for others.
Document describe_what_if(const std::string& file, const WhatIfSource& source, const std::vector<WhatIfRow>& rows,
                          const std::string& growth = {});
// Of the first failure of a trace, if its cause is a leak.
std::string growth_of_failure(const Trace& trace);
// Its rows, with the key "rows". A click on one copies the setting.
Table describe_what_if_rows(const WhatIfSource& source, const std::vector<WhatIfRow>& rows);

}  // namespace hbmscope
