// The heaps of a program of which only the text of its HLO is known: one per memory space, with the values that are
// live at each instruction. Addresses are unknown.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/read/hlo/hlo_text.h"
#include "analysis/read/hlo/live_values.h"
#include "analysis/trace/trace.h"

namespace hbmscope::hlo {

Trace trace_from_live_values(const TextModule& module, const LiveProgram& program, const std::string& name,
                             std::uint64_t bytes);

}  // namespace hbmscope::hlo
