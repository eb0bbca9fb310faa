// The values that the text fields of a filter can have in a file, for the filter line to offer. Those of a trace are
// what is in use at the peak of each of its processes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/profile.h"
#include "analysis/trace/trace.h"
#include "app/gui/sources/accounting.h"

namespace hbmscope::gui {

struct FilterValue {
  std::string text;
  std::int64_t bytes = 0;
};
// By the name of the field; the largest value first, and no more than a person would search through.
using FilterValues = std::map<std::string, std::vector<FilterValue>, std::less<>>;

// Nothing if cancelled.
std::optional<FilterValues> filter_values_of_trace(const Trace& trace, const std::atomic<bool>& cancelled);
std::optional<FilterValues> filter_values_of_profile(const std::shared_ptr<const Profile>& profile,
                                                     const std::vector<DeviceAccount>& accounts);

}  // namespace hbmscope::gui
