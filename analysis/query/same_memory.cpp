#include "analysis/query/same_memory.h"

#include "analysis/trace/stream_names.h"

#include <string_view>

namespace hbmscope {
namespace {

bool is_same_process(const Trace& trace, std::size_t one, std::size_t other) {
  if (one == other) return true;
  if (!trace.stream_processes.empty()) return trace.stream_processes[one] == trace.stream_processes[other];
  const Definitions &a = trace.streams[one].definitions(), &b = trace.streams[other].definitions();
  return !a.job_fact("pid").empty() && a.job_fact("pid") == b.job_fact("pid") &&
         a.job_fact("host") == b.job_fact("host");
}

bool is_same_device(const HeapInfo& one, const HeapInfo& other) {
  return one.device == other.device || one.device == wire::no_device || other.device == wire::no_device;
}

}  // namespace

std::vector<SameMemory> find_same_memory(const Trace& trace, const std::vector<StreamState>& states, std::size_t stream,
                                         std::uint32_t heap, AddressRange range) {
  std::vector<SameMemory> found;
  const auto labels = find_heap_labels(trace, HeapLabels::streams);
  const Definitions& own = trace.streams[stream].definitions();
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Definitions& definitions = trace.streams[i].definitions();
    if (!is_same_process(trace, stream, i)) continue;
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
