// The devices, or ranks, of a trace at the current time, a card each: how full, free memory, largest free block, and
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
  std::size_t device = 0;  // Its place among the devices.
  HeapKey heap;            // Of those that count, the one that held the most: what a click shows.
  std::uint64_t in_use_bytes = 0;
  std::uint64_t whole_bytes = 0;  // Pool size; where it is unknown, the highest peak of all cards.
  bool knows_whole = false;
  std::optional<std::uint64_t> free_bytes, largest_free_bytes;  // Absent: unknown.
  std::uint64_t failures = 0;                                   // Out-of-memories up to the current time.
};

// In the order of the file. Empty where there is one device only: nothing to choose from.
std::vector<DeviceCard> find_device_cards(const std::vector<DeviceHeaps>& devices, const TraceMoment& moment);

}  // namespace hbmscope::gui
