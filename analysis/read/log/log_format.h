// The output of a job, or any text, as a file format (analysis/read/format.h).
#pragma once

#include "analysis/model/result.h"
#include "analysis/read/format.h"
#include "analysis/read/log/findings.h"

namespace hbmscope {

namespace log {
// Everything that the text says about memory, read piece by piece. Errors: those of reading; cancelled.
Result<Findings> read_findings(InputFile& file);
}  // namespace log

extern const Format log_format;

}  // namespace hbmscope
