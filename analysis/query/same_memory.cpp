#include "analysis/query/same_memory.h"

#include <string_view>

namespace hbmscope {
namespace {

enum class Relation : std::uint8_t { same_process, perhaps, other };

Relation relation_of(const Definitions& one, const Definitions& other) {
  const std::string_view pid = one.job_fact("pid"), other_pid = other.job_fact("pid");
  if (!pid.empty() && !other_pid.empty())
    return pid == other_pid && one.job_fact("host") == other.job_fact("host") ? Relation::same_process
                                                                              : Relation::other;
  return one.job_fact("hbmscope.source") == other.job_fact("hbmscope.source") ? Relation::other : Relation::perhaps;
}

bool contains(const AddressRange& outer, const AddressRange& inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

bool is_same_device(const HeapInfo& one, const HeapInfo& other) {
  return one.device == other.device || one.device == wire::no_device || other.device == wire::no_device;
}

}  // namespace

std::vector<SameMemory> find_same_memory(const Trace& trace, const std::vector<StreamState>& states, std::size_t stream,
                                         std::uint32_t heap, AddressRange range) {
  std::vector<SameMemory> found;
  const Definitions& own = trace.streams[stream].definitions();
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Definitions& definitions = trace.streams[i].definitions();
    const Relation relation = i == stream ? Relation::same_process : relation_of(own, definitions);
    if (relation == Relation::other) continue;
    for (const HeapInfo& info : definitions.heaps()) {
      if (info.id == 0 || (i == stream && info.id == heap) || !info.has(wire::heap_flag::has_addresses)) continue;
      if (info.layer == wire::Layer::program || !is_same_device(info, own.heap(heap))) continue;
      const PlaceAt place = find_place(states[i], info.id, range.begin);
      if (place.what != PlaceAt::What::block) continue;
      if (relation == Relation::perhaps && !contains(place.range, range) && !contains(range, place.range)) continue;
      found.push_back({i, info.id, place});
    }
  }
  return found;
}

}  // namespace hbmscope
