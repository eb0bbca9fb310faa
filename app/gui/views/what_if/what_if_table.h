// The settings of What if as the table that it shows and copies.
#pragma once

#include <string>

#include "app/gui/core/answers.h"
#include "app/gui/core/table_text.h"

namespace hbmscope::gui {

std::string first_failure_text(const WhatIfRow& row);  // "8.25 GiB, operation 457". Empty if all was served.
std::string fragmentation_text(const WhatIfRow& row);  // At its peak: "3.0 %"; a dash: nothing was free.
TextTable table_from_what_if(const WhatIfAnswer& answer);

}  // namespace hbmscope::gui
