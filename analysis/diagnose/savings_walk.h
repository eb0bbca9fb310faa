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
  CountedPoints(const Stream& stream, std::uint32_t heap) {
    const StreamState last = stream.state_at(stream.end_position());
    contradicts_ = stream.definitions().heap(heap).has(wire::heap_flag::contradicts_itself);
    is_inexact_at_end_ = last.is_inexact(heap);
    inexact_since_ns_ = last.inexact_since_ns(heap);
  }
  bool count(const GroupPoint& point) const {
    if (!point.is_inexact || contradicts_) return true;
    return is_inexact_at_end_ && point.inexact_since_ns == inexact_since_ns_;
  }

 private:
  bool contradicts_ = false, is_inexact_at_end_ = false;
  std::int64_t inexact_since_ns_ = 0;
};

// Visitor: changed(site, live bytes) whenever the live bytes of a site change, then point(UsePoint) for each point that
// counts. Returns false if it was cancelled.
template <class Visitor>
bool walk_sites(const Stream& stream, std::uint32_t heap, SiteTable& sites, Visitor& visitor, PassControl* control) {
  struct Counting {
    const CountedPoints counted;
    Visitor& visitor;
    void changed(std::uint32_t site, std::uint64_t bytes) { visitor.changed(site, bytes); }
    void point(const GroupPoint& point) {
      if (counted.count(point))
        visitor.point(UsePoint{point.in_use_bytes, point.position, point.position == 0 ? 0 : point.time_ns});
    }
  } counting{CountedPoints(stream, heap), visitor};
  return GroupWalk<SiteTable, Counting>(stream, heap, sites, counting)
      .run(0, stream.end_position(), [control](std::uint64_t events) {
        if (control != nullptr) control->done_events += events;
        return control == nullptr || !control->cancelled;
      });
}

}  // namespace hbmscope
