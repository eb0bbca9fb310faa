#include "app/gui/sources/device_heaps.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/query/heap_rows.h"
#include "analysis/query/program_memory.h"
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

// That of the first stream of its process; empty if there is only one process.
std::string part_of_process(const Trace& trace, std::size_t stream) {
  const std::vector<std::uint32_t>& processes = trace.stream_processes;
  if (processes.empty()) return part_of_stream(trace, stream);
  if (std::all_of(processes.begin(), processes.end(), [](std::uint32_t one) { return one == 0; })) return {};
  const auto first = std::find(processes.begin(), processes.end(), processes[stream]);
  return part_of_stream(trace, static_cast<std::size_t>(first - processes.begin()));
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
  const std::string part = part_of_process(trace, stream);
  return part.empty() ? name : name + " (" + part + ")";
}

bool is_program_of_several(const Trace& trace, HeapKey key) {
  const Definitions& definitions = trace.streams[key.stream].definitions();
  return trace.streams.size() > 1 && definitions.heap(key.heap).layer == wire::Layer::program &&
         !definitions.job_fact("hlo_module").empty();
}

}  // namespace

std::vector<ProgramHeap> find_program_heaps(const Trace& trace) {
  std::vector<ProgramHeap> programs;
  for (const NamedHeap& heap : heaps_of(trace)) {
    if (!is_program_of_several(trace, heap.key)) continue;
    const Stream& stream = trace.streams[heap.key.stream];
    const HeapInfo& info = stream.definitions().heap(heap.key.heap);
    std::string name(stream.definitions().job_fact("hlo_module"));
    std::uint64_t needed = stream.peak(heap.key.heap).in_use_bytes;
    if (!info.memory_kind.empty() && info.memory_kind != "device")
      name += ", " + info.memory_kind;
    else if (const auto program = find_program(stream))
      needed = program->roughly_needed_bytes();
    programs.push_back({heap.key, std::move(name), needed});
  }
  std::stable_sort(programs.begin(), programs.end(),
                   [](const ProgramHeap& a, const ProgramHeap& b) { return a.needed_bytes > b.needed_bytes; });
  return programs;
}

std::size_t count_large(const std::vector<ProgramHeap>& programs) {
  constexpr std::size_t few = 5, most = 12;
  if (programs.size() <= few) return programs.size();
  const auto is_small = [&](const ProgramHeap& one) { return one.needed_bytes < programs.front().needed_bytes / 100; };
  const auto large =
      static_cast<std::size_t>(std::find_if(programs.begin(), programs.end(), is_small) - programs.begin());
  return std::min(large, most);
}

const DeviceHeap* DeviceHeaps::largest() const {
  const DeviceHeap* largest = nullptr;
  for (const DeviceHeap& heap : heaps)
    if (heap.is_counted && heap.peak_bytes > (largest == nullptr ? 0 : largest->peak_bytes)) largest = &heap;
  return largest;
}

std::vector<DeviceHeaps> find_device_heaps(const Trace& trace) {
  std::vector<DeviceHeaps> devices;
  const auto counted = find_counted_heaps(trace);
  const auto device_names = find_device_names(trace);
  for (NamedHeap& heap : heaps_of(trace)) {
    if (is_program_of_several(trace, heap.key)) continue;
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

std::optional<std::uint64_t> device_bytes_of(const TraceMoment& moment, HeapKey heap) {
  const Stream& stream = moment.stream(heap);
  const auto& heaps = stream.definitions().heaps();
  const std::uint64_t position = moment.position(heap);
  if (const auto bytes = find_device_bytes(stream, heap.heap, position)) return bytes;
  for (const HeapInfo& other : heaps)
    if (other.id != 0 && other.device == heaps[heap.heap].device && other.memory_kind == heaps[heap.heap].memory_kind)
      if (const auto bytes = find_device_bytes(stream, other.id, position)) return bytes;
  return std::nullopt;
}

std::uint64_t bar_bytes_of(const DeviceHeaps& device, const DeviceHeap& heap, const TraceMoment& moment) {
  const std::uint64_t pool = moment.heap(heap.key).space.region_bytes().value_or(0);
  if (const auto bytes = device_bytes_of(moment, heap.key)) return std::max(*bytes, pool);
  std::uint64_t most = 0;
  for (const DeviceHeap& one : device.heaps)
    most = std::max(most, moment.heap(one.key).space.region_bytes().value_or(one.peak_bytes));
  return most;
}

bool begins_at_attaching(const TraceMoment& moment, const std::vector<AttachedFacts>& attached, HeapKey heap) {
  return moment.stream(heap).definitions().heap(heap.heap).layer == wire::Layer::physical &&
         std::any_of(attached.begin(), attached.end(),
                     [&](const AttachedFacts& one) { return one.stream == heap.stream && !one.is_left_alone; });
}

std::uint64_t total_of(const DeviceHeaps& device, const TraceMoment& moment) {
  std::uint64_t bytes = 0;
  for (const DeviceHeap& heap : device.heaps)
    if (heap.is_counted) bytes += moment.state_of(heap.key).in_use_bytes(heap.key.heap);
  return bytes;
}

}  // namespace hbmscope::gui
