#include "app/gui/core/timeline_markers.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "analysis/trace/mark_phase.h"

namespace hbmscope::gui {
namespace {

struct OpenStretch {
  const Mark* mark = nullptr;
  int depth = 0;
};

class Markers {
 public:
  Markers(const Stream& stream, TimelineColumns& timeline)
      : stream_(stream),
        timeline_(timeline),
        column_(1.0 / static_cast<double>(std::max<std::size_t>(1, timeline.columns.size()))) {
    last_.fill(std::numeric_limits<std::size_t>::max());
  }

  void add(const Mark& mark) {
    std::vector<OpenStretch>& open = open_[mark.device];
    if (mark.phase == mark_phase::begins) {
      open.push_back({&mark, free_depth(open)});
    } else if (mark.phase == mark_phase::ends) {
      for (std::size_t i = open.size(); i-- > 0;) {
        if (open[i].mark->name != mark.name) continue;
        add_stretch(open[i], at(mark), mark.event);
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
        return;
      }
    } else {
      add_instant(mark);
    }
  }
  void finish() {
    for (const auto& [device, open] : open_)
      for (const OpenStretch& one : open)
        add_stretch(one, std::numeric_limits<double>::infinity(), stream_.end_position());
    // Ranges end in another order than they begin.
    std::stable_sort(timeline_.stretches.begin(), timeline_.stretches.end(),
                     [](const TimelineMarker& a, const TimelineMarker& b) { return a.begin < b.begin; });
  }

 private:
  // Ranges that overlap without being nested (a copy during a computation) get separate rows.
  static int free_depth(const std::vector<OpenStretch>& open) {
    int depth = 0;
    while (std::any_of(open.begin(), open.end(), [&](const OpenStretch& one) { return one.depth == depth; })) ++depth;
    return depth;
  }
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
  void add_stretch(const OpenStretch& open, double end, std::uint64_t end_position) {
    const double begin = at(*open.mark);
    if (open.depth >= marker_depth_max || end < 0 || begin > 1) return;
    auto& last = last_[static_cast<std::size_t>(open.depth)];
    auto& stretches = timeline_.stretches;
    // Short adjacent ranges are merged, as they can't be distinguished in the picture.
    if (last < stretches.size() && end - begin < column_ && begin >= stretches[last].begin &&
        end - stretches[last].begin < 2 * column_) {
      ++stretches[last].count;
      stretches[last].end = std::max(stretches[last].end, end);
      return;
    }
    last = stretches.size();
    stretches.push_back({begin, end, open.mark->event, 1, open.depth, name_of(*open.mark), end_position});
  }

  const Stream& stream_;
  TimelineColumns& timeline_;
  double column_;
  std::map<std::uint32_t, std::vector<OpenStretch>> open_;  // Per device.
  std::array<std::size_t, marker_depth_max> last_;
};

}  // namespace

void add_markers(const Stream& stream, TimelineColumns& timeline) {
  Markers markers(stream, timeline);
  for (const Mark& mark : stream.marks()) markers.add(mark);
  markers.finish();
}

}  // namespace hbmscope::gui
