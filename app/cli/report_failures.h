// Why requests failed: details in a report about the last out-of-memory failures.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/query/heap_rows.h"
#include "analysis/read/source/read_source.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

// An out-of-memory with its figures.
struct ShownFailure {
  FailureRow row;
  std::size_t stream = 0, index = 0;  // In the stream's failures().
};

// The out-of-memories of all streams, as compute_failure_rows orders them.
std::vector<ShownFailure> find_failures(const Trace& trace);
// Its figures, what a log says of it, and why the request failed.
std::string text_from_failure(const Trace& trace, const ShownFailure& failure, const Terminal& terminal);

// Adds `verdict`, `sentence` and more to the objects in `failures`, one per out-of-memory in the order of the streams.
// Null for all except the last ones of each stream.
void add_failure_facts(nlohmann::ordered_json& failures, const Trace& trace);

// Appends requests that were refused at the end and may still be retried, as pending failures.
void add_pending(nlohmann::ordered_json& failures, const Trace& trace);
std::string text_from_pending(const Trace& trace);  // Empty if there are none.

}  // namespace hbmscope::cli
