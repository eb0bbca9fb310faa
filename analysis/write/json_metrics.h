// The metrics of heaps as JSON: one object a heap, in the order of json_from_heap_rows. The schema is described in
// app/cli/JSON.md.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/query/heap_metrics.h"

namespace hbmscope {

nlohmann::ordered_json json_from_heap_metrics(const HeapMetrics& metrics);

}  // namespace hbmscope
