#include "analysis/query/same_memory.h"

#include "analysis/trace/same_process.h"
#include "analysis/trace/stream_names.h"

#include <string>

namespace hbmscope {
namespace {

bool is_same_device(const HeapInfo& one, const HeapInfo& other) {
  return one.device == other.device || one.device == wire::no_device || other.device == wire::no_device;
}

}  // namespace

std::vector<SameMemory> find_same_memory(const Trace& trace, const std::vector<StreamState>& states, std::size_t stream,
                                         std::uint32_t heap, AddressRange range) {
  std::vector<SameMemory> found;
  const auto labels = find_heap_labels(trace, HeapLabels::streams);
  const Definitions& own = trace.streams[stream].definitions();
  const std::string process = process_of(trace, stream);
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Definitions& definitions = trace.streams[i].definitions();
    if (process_of(trace, i) != process) continue;
    for (const HeapInfo& info : definitions.heaps()) {
      if (info.id == 0 || (i == stream && info.id == heap) || !info.has(wire::heap_flag::has_addresses)) continue;
      if (info.layer == wire::Layer::program || !is_same_device(info, own.heap(heap))) continue;
      const PlaceAt place = find_place(states[i], info.id, range.begin);
      if (place.what == PlaceAt::What::block) found.push_back({i, info.id, place, labels[i][info.id]});
    }
  }
  return found;
}

}  // namespace hbmscope
