// Why requests failed, as one page to send to somebody: no network, no script.
#pragma once

#include <string>
#include <vector>

#include "analysis/diagnose/diagnosis.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// The first failure in full, the others in a sentence each.
std::string html_from_diagnosis(const Trace& trace, const Diagnosis& first, const std::vector<std::string>& others);

}  // namespace hbmscope
