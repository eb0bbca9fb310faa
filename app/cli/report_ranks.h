// The ranks of a job, the worst first, where there are too many to read their heaps one by one.
#pragma once

#include <vector>

#include "analysis/query/rank_rows.h"

namespace hbmscope::cli {

// With more ranks than this the report has one line for each, and only the heaps of the worst one.
inline constexpr std::size_t ranks_with_heaps_max = 4;

}  // namespace hbmscope::cli
