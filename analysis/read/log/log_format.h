// The output of a job, or any text, as a file format (analysis/read/format.h).
#pragma once

#include "analysis/read/format.h"

namespace hbmscope {

extern const Format log_format;

}  // namespace hbmscope
