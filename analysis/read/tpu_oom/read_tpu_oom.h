// Reads the out-of-memory reports of the TPU compiler or runtime as a trace: from a log with other text around them, or
// from the text alone. tpu_report.h lists the forms.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/format.h"
#include "analysis/read/read_control.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// True if the text contains a report. Needs the whole text, and scans it.
bool looks_like_tpu_oom(std::span<const std::uint8_t> bytes);

// Reports have no times and no addresses; each report becomes a heap of the memory that it is about. Errors: no report,
// cancelled.
Result<Trace> read_tpu_oom(std::span<const std::uint8_t> bytes, const std::string& name,
                           ReadControl* control = nullptr);

extern const Format tpu_oom_format;

}  // namespace hbmscope
