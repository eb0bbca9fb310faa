// One card per device or rank of a trace at the current time: bytes in use, free memory, largest free block, and
// whether a request failed there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/sources/device_heaps.h"

namespace hbmscope::gui {

struct DeviceCard {
  std::string name;
  std::size_t device = 0;  // Index of the device.
  HeapKey heap;            // The heap that a click shows: the largest of those that count.
  std::uint64_t in_use_bytes = 0, peak_bytes = 0;
  std::optional<std::uint64_t> pool_bytes, device_bytes;  // Absent: unknown.
  std::uint64_t whole_bytes =
      0;  // The bar: the device; if unknown, its pool; if unknown, the highest peak of all cards.
  std::optional<std::uint64_t> free_bytes, largest_free_bytes;  // Absent: unknown.
  std::uint64_t failures = 0;                                   // Out-of-memories up to the current time.
};

// In the order of the file. Empty if there is only one device.
std::vector<DeviceCard> find_device_cards(const std::vector<DeviceHeaps>& devices, const TraceMoment& moment);

}  // namespace hbmscope::gui
