// What one device holds, by kind: the bars of the Sources panel.
//
// A profile knows only array sizes, not rounding, free memory or the device's size. So the bar ends at its own total,
// and unknown parts are not drawn.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/query/profile_view.h"

namespace hbmscope::gui {

struct KindAmount {
  std::optional<std::string> kind;  // Nothing: samples without the label.
  Weight weight;
};

struct DeviceAccount {
  std::optional<std::string> device;  // From the label. Nothing means samples without the label.
  std::string short_name;             // "TPU 3"; "no device named".
  Weight total;
  std::vector<KindAmount> kinds;  // Largest first.
};

// Ordered by device_before, samples without a device last. The totals add up to view.selected.
std::vector<DeviceAccount> compute_accounts(const ProfileView& view);

}  // namespace hbmscope::gui
