// Totals by one property of the samples: device, kind, or any label. Samples without it form one row with no name, so
// that each list adds up to the total.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/profile_view.h"

namespace hbmscope {

struct GroupRow {
  std::optional<std::string> name;  // Nothing: the samples without the label.
  Weight weight;
};

// Devices in the order of device_before, everything else largest first; the row without a name last.
std::vector<GroupRow> compute_groups(const ProfileView& view, std::string_view label_key);

// The label keys of a profile, in the order of their first appearance.
std::vector<std::string> label_keys(const Profile& profile);

}  // namespace hbmscope
