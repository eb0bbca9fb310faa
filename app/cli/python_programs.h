// Commands that are programs in the user's own Python, with libraries that few users need: DuckDB for stores
// (app/fleet), MCP for agents (app/mcp).
#pragma once

#include <string>

#include "analysis/model/result.h"

namespace hbmscope::cli {

inline constexpr int python_without_duckdb = 3;  // An exit code of the programs in app/fleet, which have said why.

Error python_program_is_missing(const std::string& name);  // "fleet/store.py"

}  // namespace hbmscope::cli
