#include "analysis/read/workload_change.h"

#include <fmt/format.h>

#include "analysis/units/utf8.h"

namespace hbmscope {

Result<WorkloadChange> parse_workload_change(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos && equals > 0)
    return WorkloadChange{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  return Failure(refusal(fmt::format("'{}' is not KEY=VALUE", printable(text)), "Write, e.g., checkpointing=full."));
}

std::string text_from_workload_change(const WorkloadChange& change) {
  return change.key + "=" + change.value;
}

}  // namespace hbmscope
