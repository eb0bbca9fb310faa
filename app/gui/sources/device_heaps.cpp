#include "app/gui/sources/device_heaps.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/trace/device_labels.h"
#include "analysis/trace/layers.h"
#include "analysis/trace/stream_names.h"

namespace hbmscope::gui {
namespace {

// The usual names of the memories of a TPU core; empty for anything else.
std::string name_of_tier(std::string_view kind) {
  constexpr std::pair<std::string_view, std::string_view> tiers[] = {{"vmem", "VMEM"},
                                                                     {"smem", "SMEM"},
                                                                     {"cmem", "CMEM"},
                                                                     {"tilespmem", "TileSpmem"},
                                                                     {"accumulator", "accumulators"}};
  for (const auto& [tier, name] : tiers)
    if (tier == kind) return std::string(name);
  return {};
}

std::string name_of_device(const Trace& trace, std::size_t stream, const HeapInfo& heap) {
  const bool is_device = heap.memory_kind.empty() || heap.memory_kind == "device" || heap.memory_kind == "hbm";
  std::string name = is_device ? "device" : heap.memory_kind + " memory";
  const bool has_number = heap.device != wire::no_device;
  if (const std::string tier = name_of_tier(heap.memory_kind); !tier.empty())
    name = has_number && heap.device > 0 ? fmt::format("{} of device {}", tier, heap.device) : tier;
  else if (is_extra_pool(heap))
    name = "compared GPU";
  else if (has_number)
    name += fmt::format(" {}", heap.device);
  const std::string part = part_of_stream(trace, stream);
  return part.empty() ? name : name + " (" + part + ")";
}

}  // namespace

std::vector<DeviceHeaps> find_device_heaps(const Trace& trace) {
  std::vector<DeviceHeaps> devices;
  const auto counted = find_counted_heaps(trace);
  const auto device_names = find_device_names(trace);
  for (NamedHeap& heap : heaps_of(trace)) {
    const Stream& stream = trace.streams[heap.key.stream];
    const HeapInfo& info = stream.definitions().heap(heap.key.heap);
    const std::string& identified = device_names[heap.key.stream][heap.key.heap];
    const std::string name = identified.empty() ? name_of_device(trace, heap.key.stream, info) : identified;
    auto device =
        std::find_if(devices.begin(), devices.end(), [&](const DeviceHeaps& one) { return one.name == name; });
    if (device == devices.end()) device = devices.insert(devices.end(), {name, {}});
    device->heaps.push_back({heap.key, std::move(heap.name), title_of(info.layer),
                             counted[heap.key.stream][heap.key.heap] || is_extra_pool(info),
                             stream.peak(heap.key.heap).in_use_bytes});
  }
  for (DeviceHeaps& device : devices) {
    const auto is_alike = [&](const DeviceHeap& heap) { return heap.layer == device.heaps.front().layer; };
    if (!std::all_of(device.heaps.begin(), device.heaps.end(), is_alike)) continue;
    for (DeviceHeap& heap : device.heaps) heap.layer = {};
  }
  return devices;
}

std::uint64_t total_of(const DeviceHeaps& device, const TraceMoment& moment) {
  std::uint64_t bytes = 0;
  for (const DeviceHeap& heap : device.heaps)
    if (heap.is_counted) bytes += moment.state_of(heap.key).in_use_bytes(heap.key.heap);
  return bytes;
}

}  // namespace hbmscope::gui
