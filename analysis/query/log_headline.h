// What a log says about memory, in one sentence.
#pragma once

#include <string>

#include "analysis/trace/trace.h"

namespace hbmscope {

// Made of the output of a job (analysis/read/log): it has failures and figures, and no events besides.
bool is_of_log(const Trace& trace);
// "Out of memory 3 times in this log of 12,345 lines."
std::string headline_of_log(const Trace& trace);

}  // namespace hbmscope
