// Reads the out-of-memory reports of the TPU compiler or runtime as a trace, from the text of an error. tpu_report.h
// lists the forms. Whole logs are read by analysis/read/log, which finds these reports among everything else.
#pragma once

#include <string>
#include <string_view>

#include "analysis/model/result.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// Reports have no times and no addresses; each report becomes a heap of the memory that it is about. Errors: no report.
Result<Trace> read_tpu_oom(std::string_view text, const std::string& name);

}  // namespace hbmscope
