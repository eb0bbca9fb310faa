// The verdict that a file carries or that follows from it as a whole: of a TPU workload whether it runs, of the
// recording of a dry run what `run --emulate` printed. `report` and `explain` begin with it.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/read/source/read_source.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

// With an empty line behind it. Empty if there is no such verdict.
std::string verdict_text(const Source& source, const Terminal& terminal);
// With the keys "workload" or "dry_run", which only these files have.
nlohmann::ordered_json with_verdict(nlohmann::ordered_json json, const Source& source);

}  // namespace hbmscope::cli
