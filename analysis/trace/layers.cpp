#include "analysis/trace/layers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "analysis/trace/same_process.h"

namespace hbmscope {
namespace {

// A device's own memory has several names; CUDA and TPU users also say HBM.
std::string_view kind_of(const HeapInfo& heap) {
  return heap.memory_kind.empty() || heap.memory_kind == "hbm" ? "device" : std::string_view(heap.memory_kind);
}

struct Source {
  wire::Layer layer = wire::Layer::program;
  std::size_t stream = 0;
  bool is_inside = false;  // It is memory of pools whose blocks say what the driver's memory is.
  bool has_failure = false;
  bool has_addresses = false;
};

bool is_better(const Source& one, const Source& other) {
  if (one.is_inside != other.is_inside) return one.is_inside;
  if (one.layer != other.layer) return one.layer < other.layer;
  if (one.has_addresses != other.has_addresses) return one.has_addresses;
  return one.stream != other.stream && one.has_failure && !other.has_failure;
}

// The device's memory as a compiled program has planned it.
bool is_of_plan(const Stream& stream, const HeapInfo& heap) {
  return heap.layer == wire::Layer::program && kind_of(heap) == "device" &&
         !stream.definitions().job_fact("hlo_module").empty();
}

// Programs of one file don't run at the same time. Nothing if there is none.
std::optional<std::size_t> find_largest_plan(const Trace& trace) {
  std::optional<std::size_t> largest;
  std::uint64_t largest_bytes = 0;
  for (std::size_t i = 0; i < trace.streams.size(); ++i)
    for (const HeapInfo& heap : trace.streams[i].definitions().heaps())
      if (heap.id != 0 && is_of_plan(trace.streams[i], heap))
        if (const std::uint64_t bytes = trace.streams[i].peak(heap.id).in_use_bytes;
            !largest || bytes > largest_bytes) {
          largest = i;
          largest_bytes = bytes;
        }
  return largest;
}

}  // namespace

bool is_host_kind(std::string_view kind) {
  return kind.starts_with("host") || kind.ends_with("host") || kind == "managed" || kind == "cpu";
}

std::vector<std::vector<bool>> find_counted_heaps(const Trace& trace) {
  using Place = std::tuple<std::string, std::uint32_t, std::string>;  // Process, device, memory kind.
  std::map<Place, Source> sources;
  std::vector<std::string> processes;
  const auto place_of = [&](std::size_t stream, const HeapInfo& heap) {
    return Place{processes[stream], heap.device, std::string(kind_of(heap))};
  };
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    processes.push_back(process_of(trace, i));
    for (const HeapInfo& heap : trace.streams[i].definitions().heaps()) {
      if (heap.id == 0) continue;
      const Source source{heap.layer, i, heap.has(wire::heap_flag::is_inside_of_driver),
                          !trace.streams[i].failures().empty(), heap.has(wire::heap_flag::has_addresses)};
      const auto [found, is_new] = sources.try_emplace(place_of(i, heap), source);
      if (!is_new && is_better(source, found->second)) found->second = source;
    }
  }
  const bool has_device = std::any_of(sources.begin(), sources.end(), [](const auto& source) {
    return !is_host_kind(std::get<2>(source.first)) && std::get<2>(source.first) != kind_of_extra_pool;
  });
  const bool has_own = std::any_of(sources.begin(), sources.end(),
                                   [](const auto& source) { return std::get<2>(source.first) != kind_of_extra_pool; });
  const bool has_memory_of_device = std::any_of(sources.begin(), sources.end(), [](const auto& source) {
    return std::get<2>(source.first) == "device" && source.second.layer < wire::Layer::program;
  });
  const std::optional<std::size_t> counted_plan = has_memory_of_device ? std::nullopt : find_largest_plan(trace);
  const auto is_only_a_plan = [&](std::size_t stream, const HeapInfo& heap) {
    return is_of_plan(trace.streams[stream], heap) && counted_plan != stream;
  };
  // A list of arrays beside a pool of the same process that can hold them, also where one of them has no device.
  const auto is_only_a_listing = [&](std::size_t stream, const HeapInfo& heap) {
    if (heap.layer != wire::Layer::framework || heap.has(wire::heap_flag::has_addresses)) return false;
    for (std::size_t j = 0; j < trace.streams.size(); ++j)
      if (j != stream && processes[j] == processes[stream])
        for (const HeapInfo& other : trace.streams[j].definitions().heaps())
          if (other.layer < wire::Layer::framework && can_share_memory(heap, other)) return true;
    return false;
  };
  std::vector<std::vector<bool>> counted;
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const std::vector<HeapInfo>& heaps = trace.streams[i].definitions().heaps();
    std::vector<bool>& flags = counted.emplace_back(heaps.size());
    for (const HeapInfo& heap : heaps) {
      if (heap.id == 0) continue;
      const Source& source = sources.at(place_of(i, heap));
      flags[heap.id] = heap.layer == source.layer && i == source.stream &&
                       !(has_device && is_host_kind(kind_of(heap))) && !(has_own && is_extra_pool(heap)) &&
                       !is_only_a_plan(i, heap) && !is_only_a_listing(i, heap);
    }
    // A parent is defined before its child. A larger parent id is damage, and could form a cycle.
    for (const HeapInfo& heap : heaps)
      for (std::uint32_t below = heap.parent, last = heap.id; flags[heap.id] && below != 0 && below < last;
           last = below, below = heaps[below].parent)
        if (flags[below]) flags[heap.id] = false;
  }
  return counted;
}

}  // namespace hbmscope
