// All that can be asked of a trace, whatever is in it: answers hold together or are absent, nothing is out of bounds.
#pragma once

#include "analysis/trace/trace.h"

namespace hbmscope {

void ask_all_questions(const Trace& trace);  // Aborts where an answer contradicts another.

}  // namespace hbmscope
