// Runs all queries on a trace, whatever it contains: answers must be consistent or absent, and nothing may be out of
// bounds.
#pragma once

#include "analysis/trace/trace.h"

namespace hbmscope {

void ask_all_questions(const Trace& trace);  // Aborts if an answer contradicts another.

}  // namespace hbmscope
