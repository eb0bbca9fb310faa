// What the TPU compiler or runtime wrote when memory did not suffice, as a trace: from a log with anything around it,
// or the text alone. tpu_report.h has the forms.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/format.h"
#include "analysis/read/read_control.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// Whether there is a report anywhere in the text: the whole of it has to be there. Costs a walk over it.
bool looks_like_tpu_oom(std::span<const std::uint8_t> bytes);

// There are no times and no addresses; each report is a heap of the memory that it is about. Errors: no report,
// cancelled.
Result<Trace> read_tpu_oom(std::span<const std::uint8_t> bytes, const std::string& name,
                           ReadControl* control = nullptr);

extern const Format tpu_oom_format;

}  // namespace hbmscope
