// The heaps of a compiled program, with its instruction order as the time axis.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/read/hlo/program.h"
#include "analysis/trace/trace.h"

namespace hbmscope::hlo {

Trace trace_from_program(const Program& program, const std::string& name, std::uint64_t bytes);

}  // namespace hbmscope::hlo
