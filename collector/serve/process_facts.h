// What a recording keeps about a process: its command, its host, its rank, and the variables that decide over device
// memory. Nothing else of its environment is kept, for there are secrets in it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hbmscope::serve {

using ProcessFacts = std::vector<std::pair<std::string, std::string>>;

// From /proc; what can't be read is left out.
ProcessFacts read_process_facts(std::int64_t pid);

}  // namespace hbmscope::serve
