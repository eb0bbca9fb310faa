// The findings of a log as a trace without times: one heap per allocator and process, whose contents and figures are
// those that the log printed last, and one event per failure. What a sentence says beyond the figures of a failure is
// kept as attributes of its event (trace/failure_details.h).
#pragma once

#include <cstdint>
#include <string>

#include "analysis/read/log/findings.h"
#include "analysis/trace/trace.h"

namespace hbmscope::log {

Trace trace_from_log(const Findings& findings, const std::string& file, std::uint64_t file_bytes);

}  // namespace hbmscope::log
