// Memory of the host that ran out: what ended the job, and what helps.
#pragma once

#include <string>

#include "analysis/diagnose/advice.h"
#include "analysis/diagnose/cause.h"

namespace hbmscope {

std::string host_memory_sentence(const CauseFacts& facts);
// Fills the row of the table of advice (advice_rows.cpp).
bool fill_host_memory(const AdviceFacts& facts, Advice& advice);

}  // namespace hbmscope
