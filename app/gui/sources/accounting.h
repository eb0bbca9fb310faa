// What one device holds, cut by kind: the bars of the panel Sources.
//
// A profile knows array sizes only. It does not know rounding, free memory or the device's size, so the bar has no end
// but its own total, and the parts that it can't know are not drawn.
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
  std::optional<std::string> device;  // As the label says it; nothing: samples without the label.
  std::string short_name;             // "TPU 3"; "no device named".
  Weight total;
  std::vector<KindAmount> kinds;  // The largest first.
};

// In the order of device_before, samples without a device last. Their totals add up to view.selected.
std::vector<DeviceAccount> compute_accounts(const ProfileView& view);

}  // namespace hbmscope::gui
