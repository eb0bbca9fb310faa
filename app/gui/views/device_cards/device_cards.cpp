#include "app/gui/views/device_cards/device_cards.h"

#include <algorithm>

namespace hbmscope::gui {
namespace {

// The heap that represents the device; nullptr if none counts.
const DeviceHeap* main_heap(const DeviceHeaps& device) {
  const DeviceHeap* most = nullptr;
  for (const DeviceHeap& heap : device.heaps)
    if (heap.is_counted && (most == nullptr || heap.peak_bytes > most->peak_bytes)) most = &heap;
  return most;
}

// Failures are either few or all alike, so the last few thousand are enough for a flag.
std::uint64_t failures_up_to(const Stream& stream, std::uint32_t heap, std::uint64_t position) {
  constexpr std::size_t looked_at = 4096;
  const auto& failures = stream.failures();
  std::uint64_t count = 0;
  for (std::size_t i = failures_until(stream, position), seen = 0; i-- > 0 && seen < looked_at; ++seen)
    count += failures[i].is_out_of_memory && failures[i].heap == heap ? 1 : 0;
  return count;
}

}  // namespace

std::vector<DeviceCard> find_device_cards(const std::vector<DeviceHeaps>& devices, const TraceMoment& moment) {
  std::vector<DeviceCard> cards;
  std::uint64_t highest = 0;
  for (const DeviceHeaps& device : devices) {
    const DeviceHeap* heap = main_heap(device);
    if (heap == nullptr || !has_heap(*moment.trace, heap->key)) continue;
    const AddressSpace& space = moment.heap(heap->key).space;
    DeviceCard& card = cards.emplace_back();
    card.name = device.name;
    card.device = static_cast<std::size_t>(&device - devices.data());
    card.heap = heap->key;
    card.in_use_bytes = moment.state_of(heap->key).in_use_bytes(heap->key.heap);
    card.whole_bytes = space.region_bytes().value_or(0);
    card.knows_whole = space.region_bytes().has_value();
    card.free_bytes = space.free_bytes();
    card.largest_free_bytes = space.largest_free();
    card.failures = failures_up_to(moment.stream(heap->key), heap->key.heap, moment.position(heap->key));
    highest = std::max(highest, heap->peak_bytes);
  }
  if (cards.size() < 2) return {};
  for (DeviceCard& card : cards)
    if (!card.knows_whole) card.whole_bytes = highest;
  return cards;
}

}  // namespace hbmscope::gui
