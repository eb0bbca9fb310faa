// Why requests failed: what a report says of the last out-of-memories beyond their figures.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analysis/read/source/read_source.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

// Of one failure, named by its stream's number and its place in failures(): a sentence, when the request would last
// have fit, and the blocking allocations.
std::string text_from_failure_facts(const Trace& trace, std::size_t stream, std::size_t failure,
                                    const Terminal& terminal);

// Adds `verdict`, `sentence` and the rest to the objects of `failures`, which are one for each out-of-memory in the
// order of the streams; null for all but the last ones of each stream.
void add_failure_facts(nlohmann::ordered_json& failures, const Trace& trace);

// Appends requests that were refused at the end and may still be retried, as failures that are pending.
void add_pending(nlohmann::ordered_json& failures, const Trace& trace);
std::string text_from_pending(const Trace& trace);  // Empty: none is.

}  // namespace hbmscope::cli
