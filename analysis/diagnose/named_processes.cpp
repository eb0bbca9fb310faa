#include "analysis/diagnose/named_processes.h"

#include "analysis/units/format.h"

namespace hbmscope {

std::vector<NamedProcess> find_named_processes(const FailureRow& row) {
  std::vector<NamedProcess> found;
  for (const auto& [key, value] : row.details) {
    const bool is_own = key == "this process";
    if (!is_own && !key.starts_with("process ")) continue;
    if (const auto bytes = parse_bytes(value); bytes && *bytes > 0)
      found.push_back({key, static_cast<std::uint64_t>(*bytes), is_own});
  }
  return found;
}

}  // namespace hbmscope
