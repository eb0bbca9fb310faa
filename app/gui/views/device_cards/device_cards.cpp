#include "app/gui/views/device_cards/device_cards.h"

#include <algorithm>

namespace hbmscope::gui {
namespace {

// The heap that represents the device for each process that uses it; none if none counts.
std::vector<const DeviceHeap*> main_heaps(const DeviceHeaps& device) {
  std::vector<const DeviceHeap*> main;
  for (const DeviceHeap& heap : device.heaps) {
    if (!heap.is_counted) continue;
    const auto known = std::find_if(main.begin(), main.end(),
                                    [&](const DeviceHeap* one) { return one->key.stream == heap.key.stream; });
    if (known == main.end())
      main.push_back(&heap);
    else if (heap.peak_bytes > (*known)->peak_bytes)
      *known = &heap;
  }
  return main;
}

std::optional<std::uint64_t> sum_of(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
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
    std::vector<const DeviceHeap*> heaps = main_heaps(device);
    std::erase_if(heaps, [&](const DeviceHeap* heap) { return !has_heap(*moment.trace, heap->key); });
    if (heaps.empty()) continue;
    DeviceCard& card = cards.emplace_back();
    card.name = device.name;
    card.device = static_cast<std::size_t>(&device - devices.data());
    card.heap = (*std::max_element(heaps.begin(), heaps.end(), [](const DeviceHeap* one, const DeviceHeap* other) {
                  return one->peak_bytes < other->peak_bytes;
                }))->key;
    card.pool_bytes = card.free_bytes = 0;
    for (const DeviceHeap* heap : heaps) {
      const AddressSpace& space = moment.heap(heap->key).space;
      card.in_use_bytes += moment.state_of(heap->key).in_use_bytes(heap->key.heap);
      card.pool_bytes = sum_of(card.pool_bytes, space.region_bytes());
      card.free_bytes = sum_of(card.free_bytes, space.free_bytes());
      if (const auto largest = space.largest_free())
        card.largest_free_bytes = std::max(card.largest_free_bytes.value_or(0), *largest);
      card.failures += failures_up_to(moment.stream(heap->key), heap->key.heap, moment.position(heap->key));
      card.peak_bytes += heap->peak_bytes;
      if (!card.device_bytes) card.device_bytes = device_bytes_of(moment, heap->key);
    }
    highest = std::max(highest, card.peak_bytes);
  }
  if (cards.size() < 2) return {};
  for (DeviceCard& card : cards)
    card.whole_bytes = std::max(card.device_bytes.value_or(card.pool_bytes.value_or(highest)), card.in_use_bytes);
  return cards;
}

}  // namespace hbmscope::gui
