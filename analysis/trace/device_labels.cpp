#include "analysis/trace/device_labels.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/trace/layers.h"
#include "analysis/trace/stream_names.h"

namespace hbmscope {
namespace {

bool is_identified(const HeapInfo& heap) {
  return !heap.uuid.empty() && heap.device != wire::no_device && !is_host_kind(heap.memory_kind);
}

// "GPU-1f2e3d4c" of "GPU-1f2e3d4c-...".
std::string short_uuid(const std::string& uuid) {
  return uuid.substr(0, uuid.find('-', uuid.find('-') + 1));
}

struct Device {
  std::uint32_t ordinal = wire::no_device;  // The lowest one by which a process knows it.
  std::set<std::string> parts;              // The ranks or files that use it.
};

}  // namespace

std::vector<std::vector<std::string>> find_device_names(const Trace& trace) {
  std::map<std::string, Device> devices;  // By UUID.
  for (std::size_t stream = 0; stream < trace.streams.size(); ++stream)
    for (const HeapInfo& heap : trace.streams[stream].definitions().heaps()) {
      if (!is_identified(heap)) continue;
      Device& device = devices[heap.uuid];
      device.ordinal = std::min(device.ordinal, heap.device);
      device.parts.insert(part_of_stream(trace, stream));
    }
  std::map<std::uint32_t, std::vector<const Device*>> by_ordinal;
  for (const auto& [uuid, device] : devices) by_ordinal[device.ordinal].push_back(&device);
  const auto name_of = [&](const std::string& uuid) {
    const Device& device = devices.at(uuid);
    const std::string name = "GPU " + std::to_string(device.ordinal);
    const std::vector<const Device*>& alike = by_ordinal.at(device.ordinal);
    if (alike.size() == 1) return name;
    std::set<std::string> parts;
    for (const Device* one : alike)
      if (one->parts.size() == 1) parts.insert(*one->parts.begin());
    const bool is_told_apart = parts.size() == alike.size() && !parts.contains("");
    return name + " (" + (is_told_apart ? *device.parts.begin() : short_uuid(uuid)) + ")";
  };
  std::vector<std::vector<std::string>> names;
  for (const Stream& stream : trace.streams) {
    std::vector<std::string>& of_stream = names.emplace_back();
    for (const HeapInfo& heap : stream.definitions().heaps())
      of_stream.push_back(is_identified(heap) ? name_of(heap.uuid) : std::string());
  }
  return names;
}

std::vector<std::vector<std::string>> find_device_labels(const Trace& trace,
                                                         const std::vector<std::vector<std::string>>& heap_labels) {
  std::vector<std::vector<std::string>> labels = heap_labels;
  for (std::size_t stream = 0; stream < labels.size(); ++stream) {
    const auto heaps = trace.streams[stream].definitions().heaps();
    for (std::size_t i = 1; i < heaps.size(); ++i) {
      const std::size_t end = heaps[i].name.find(private_pool_words);
      if (end == std::string::npos) continue;
      const auto of_device = std::find_if(heaps.begin(), heaps.end(), [&](const HeapInfo& heap) {
        return heap.device == heaps[i].device && heap.name == heaps[i].name.substr(0, end);
      });
      if (of_device != heaps.end())
        labels[stream][i] = heap_labels[stream][static_cast<std::size_t>(of_device - heaps.begin())];
    }
  }
  const auto names = find_device_names(trace);
  for (std::size_t stream = 0; stream < labels.size(); ++stream)
    for (std::size_t i = 0; i < labels[stream].size(); ++i)
      if (!names[stream][i].empty()) labels[stream][i] = names[stream][i];
  return labels;
}

}  // namespace hbmscope
