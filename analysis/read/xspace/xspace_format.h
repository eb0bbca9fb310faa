// The row of XLA's profiles in the list of formats.
#pragma once

#include "analysis/read/format.h"

namespace hbmscope {

extern const Format xspace_format;

}  // namespace hbmscope
