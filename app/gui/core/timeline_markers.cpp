#include "app/gui/core/timeline_markers.h"

#include <algorithm>
#include <array>
#include <limits>

#include "analysis/query/marked_spans.h"

namespace hbmscope::gui {
namespace {

class Markers {
 public:
  Markers(const Stream& stream, TimelineColumns& timeline)
      : stream_(stream),
        timeline_(timeline),
        column_(1.0 / static_cast<double>(std::max<std::size_t>(1, timeline.columns.size()))) {
    last_.fill(std::numeric_limits<std::size_t>::max());
  }

  void add_all() {
    for_each_marked_span(
        stream_, [this](const Mark& begin, const Mark* end, int depth) { add_stretch(begin, end, depth); },
        [this](const Mark& mark) { add_instant(mark); });
    // Ranges end in another order than they begin.
    std::stable_sort(timeline_.stretches.begin(), timeline_.stretches.end(),
                     [](const TimelineMarker& a, const TimelineMarker& b) { return a.begin < b.begin; });
  }

 private:
  double at(const Mark& mark) const {
    const double axis = timeline_.has_times ? static_cast<double>(mark.time_ns - timeline_.first_time_ns)
                                            : static_cast<double>(mark.event);
    return timeline_.share_of_axis(axis);
  }
  std::string name_of(const Mark& mark) const { return std::string(stream_.definitions().text(mark.name)); }

  void add_instant(const Mark& mark) {
    const double where = at(mark);
    if (where < 0 || where > 1) return;
    auto& instants = timeline_.instants;
    if (!instants.empty() && where - instants.back().begin < column_) {
      ++instants.back().count;
      return;
    }
    instants.push_back({where, where, mark.event, 1, 0, name_of(mark)});
  }
  void add_stretch(const Mark& first, const Mark* closing, int depth) {
    const double begin = at(first), end = closing == nullptr ? std::numeric_limits<double>::infinity() : at(*closing);
    if (depth >= marker_depth_max || end < 0 || begin > 1) return;
    auto& last = last_[static_cast<std::size_t>(depth)];
    auto& stretches = timeline_.stretches;
    // Short adjacent ranges are merged, as they can't be distinguished in the picture.
    if (last < stretches.size() && end - begin < column_ && begin >= stretches[last].begin &&
        end - stretches[last].begin < 2 * column_) {
      ++stretches[last].count;
      stretches[last].end = std::max(stretches[last].end, end);
      return;
    }
    last = stretches.size();
    stretches.push_back({begin, end, first.event, 1, depth, name_of(first),
                         closing == nullptr ? stream_.end_position() : closing->event});
  }

  const Stream& stream_;
  TimelineColumns& timeline_;
  double column_;
  std::array<std::size_t, marker_depth_max> last_;
};

}  // namespace

void add_markers(const Stream& stream, TimelineColumns& timeline) {
  Markers(stream, timeline).add_all();
}

}  // namespace hbmscope::gui
