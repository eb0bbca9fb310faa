// A MemoryDump as a file format (analysis/read/format.h).
#pragma once

#include "analysis/read/format.h"

namespace hbmscope {

extern const Format memory_dump_format;

}  // namespace hbmscope
