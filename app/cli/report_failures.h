// Why requests failed: details in a report about the last out-of-memory failures.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analysis/read/source/read_source.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

// About one failure, given by stream index and index in failures(): a sentence, the last time the request would have
// fit, and the blocking allocations.
std::string text_from_failure_facts(const Trace& trace, std::size_t stream, std::size_t failure,
                                    const Terminal& terminal);

// Adds `verdict`, `sentence` and more to the objects in `failures`, one per out-of-memory in the order of the streams.
// Null for all except the last ones of each stream.
void add_failure_facts(nlohmann::ordered_json& failures, const Trace& trace);

// Appends requests that were refused at the end and may still be retried, as pending failures.
void add_pending(nlohmann::ordered_json& failures, const Trace& trace);
std::string text_from_pending(const Trace& trace);  // Empty if there are none.

}  // namespace hbmscope::cli
