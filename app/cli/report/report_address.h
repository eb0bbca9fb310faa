// hbmscope report --address: the block or free gap at an address, its neighbours, and everything that was at the
// address from the first event to the last.
#pragma once

#include "analysis/read/source/read_source.h"

namespace hbmscope::cli {

struct ReportOptions;

int run_report_address(const ReportOptions& options, const Source& source);

}  // namespace hbmscope::cli
