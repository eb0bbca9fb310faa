// Follows the live bytes of each site of one heap over all events.
#pragma once

#include <cstdint>

#include "analysis/diagnose/savings_curve.h"
#include "analysis/diagnose/savings_sites.h"
#include "analysis/query/group_walk.h"

namespace hbmscope {

// Decides which points of a heap's curve count for its peak. It follows Stream::peak(): figures between a loss of
// events and the next listing of the heap don't count, except after the last loss if no listing follows, or if the
// source contradicts itself.
class CountedPoints {
 public:
  CountedPoints(const Stream& stream, std::uint32_t heap) : heap_(heap) {
    const StreamState last = stream.state_at(stream.end_position());
    contradicts_ = stream.definitions().heap(heap).has(wire::heap_flag::contradicts_itself);
    is_inexact_at_end_ = last.is_inexact(heap);
    inexact_since_ns_ = last.inexact_since_ns(heap);
  }
  bool count(const StreamState& state) const {
    if (!state.is_inexact(heap_) || contradicts_) return true;
    return is_inexact_at_end_ && state.inexact_since_ns(heap_) == inexact_since_ns_;
  }

 private:
  std::uint32_t heap_;
  bool contradicts_ = false, is_inexact_at_end_ = false;
  std::int64_t inexact_since_ns_ = 0;
};

// Visitor: changed(site, live bytes) whenever the live bytes of a site change, then point(UsePoint) for each point that
// counts. Returns false if it was cancelled.
template <class Visitor>
bool walk_sites(const Stream& stream, std::uint32_t heap, SiteTable& sites, Visitor& visitor, PassControl* control) {
  struct Counting {
    const std::uint32_t heap;
    const CountedPoints counted;
    Visitor& visitor;
    void changed(std::uint32_t site, std::uint64_t bytes) { visitor.changed(site, bytes); }
    void point(const StreamState& state, std::uint64_t position, std::int64_t time_ns) {
      if (counted.count(state))
        visitor.point(UsePoint{state.in_use_bytes(heap), position, position == 0 ? 0 : time_ns});
    }
  } counting{heap, CountedPoints(stream, heap), visitor};
  StreamState state;
  state.forget_regions();
  return GroupWalk<SiteTable, Counting>(stream, heap, sites, counting)
      .run(state, stream.end_position(), [control](std::uint64_t events) {
        if (control != nullptr) control->done_events += events;
        return control == nullptr || !control->cancelled;
      });
}

}  // namespace hbmscope
