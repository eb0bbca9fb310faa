// hbmscope report --address: the block or free gap at an address, its neighbours, and everything that was at the
// address from the first event to the last.
#pragma once

#include <string>

#include "analysis/query/block_list.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/read/source/read_source.h"

namespace hbmscope::cli {

struct ReportOptions;

int run_report_address(const ReportOptions& options, const Source& source);

// Shared by both reports on blocks (report_blocks.cpp).
std::string moment_text(const Source& source);                             // "At the peak (...)", "After event 7 of 10"
std::string age_text(const Source& source, const BlockFacts& facts);       // "1.20 s", "1,204 events", "–"
std::string lifetime_text(const Source& source, const BlockFacts& facts);  // The same, or "not freed".
std::string own_line_text(const Definitions& definitions, std::uint32_t stack);

}  // namespace hbmscope::cli
