#include "analysis/query/marked_spans.h"

#include <span>

#include "analysis/query/group_walk.h"
#include "analysis/query/steps.h"
#include "analysis/trace/layers.h"

namespace hbmscope {
namespace {

// The most of each stretch between neighbouring events of a list, and of any number of such stretches in a row.
class MostBetween {
 public:
  explicit MostBetween(std::vector<std::uint64_t> events) : events_(std::move(events)) {
    std::sort(events_.begin(), events_.end());
    events_.erase(std::unique(events_.begin(), events_.end()), events_.end());
    tree_.resize(2 * events_.size());
  }

  // In ascending order. The position N is before the event N, so what is in use there begins that event's stretch.
  void note(std::uint64_t position, std::uint64_t bytes) {
    while (at_ < events_.size() && events_[at_] < position) leaf(at_++) = now_;
    now_ = bytes;
    if (at_ > 0) leaf(at_ - 1) = std::max(leaf(at_ - 1), bytes);
  }
  void finish() {
    while (at_ < events_.size()) leaf(at_++) = now_;
    for (std::size_t node = events_.size(); node-- > 1;) tree_[node] = std::max(tree_[2 * node], tree_[2 * node + 1]);
  }
  // Both must be events of the list; the last event: to the end of the stream.
  std::uint64_t most(std::uint64_t begin, std::optional<std::uint64_t> end) const {
    std::uint64_t most = 0;
    std::size_t low = index_of(begin) + events_.size(),
                high = (end ? std::max(index_of(*end), index_of(begin) + 1) : events_.size()) + events_.size();
    for (; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) most = std::max(most, tree_[low++]);
      if (high % 2 == 1) most = std::max(most, tree_[--high]);
    }
    return most;
  }

 private:
  std::size_t index_of(std::uint64_t event) const {
    return static_cast<std::size_t>(std::lower_bound(events_.begin(), events_.end(), event) - events_.begin());
  }
  std::uint64_t& leaf(std::size_t index) { return tree_[events_.size() + index]; }

  std::vector<std::uint64_t> events_;
  std::vector<std::uint64_t> tree_;  // A segment tree: the leaves are its second half.
  std::size_t at_ = 0;               // The first event that has not come.
  std::uint64_t now_ = 0;
};

struct OneGroup {
  template <class Block>
  std::uint32_t number_of(const Block&) const {
    return 0;
  }
};

// Of a device, or of all.
std::uint32_t largest_heap(const Stream& stream, const std::vector<bool>& counted, std::uint32_t device) {
  std::uint32_t largest = 0;
  for (const HeapInfo& heap : stream.definitions().heaps()) {
    if (heap.id == 0 || !counted[heap.id] || (device != wire::no_device && heap.device != device)) continue;
    if (largest == 0 || stream.peak(heap.id).in_use_bytes > stream.peak(largest).in_use_bytes) largest = heap.id;
  }
  return largest;
}

// Returns false if it was cancelled.
bool find_most(const Stream& stream, std::uint32_t heap, std::span<MarkedSpan> spans, PassControl* control) {
  std::vector<std::uint64_t> events;
  for (const MarkedSpan& span : spans)
    if (span.heap.heap == heap)
      for (const Mark* mark : {span.begin, span.end})
        if (mark != nullptr) events.push_back(mark->event);
  MostBetween most(std::move(events));
  struct Visit {
    MostBetween& most;
    void changed(std::uint32_t, std::uint64_t) const {}
    void point(const GroupPoint& point) const { most.note(point.position, point.in_use_bytes); }
  } visit{most};
  OneGroup groups;
  GroupWalk<OneGroup, Visit> walk(stream, heap, groups, visit);
  const bool is_complete = walk.run(0, stream.end_position(), [control](std::uint64_t passed) {
    if (control == nullptr) return true;
    control->done_events += passed;
    return !control->cancelled;
  });
  if (!is_complete) return false;
  most.finish();
  for (MarkedSpan& span : spans) {
    if (span.heap.heap != heap) continue;
    span.begin_bytes = stream.in_use_at_mark(heap, span.begin->event);
    span.end_bytes = span.end != nullptr ? stream.in_use_at_mark(heap, span.end->event) : 0;
    span.most_bytes = most.most(span.begin->event, span.end == nullptr ? std::nullopt : std::optional(span.end->event));
  }
  return true;
}

}  // namespace

SpanNames::SpanNames(const Stream& stream) {
  struct Group {
    std::size_t spans = 0, names = 0;
  };
  std::map<std::uint32_t, std::size_t> spans;
  for (const Mark& mark : stream.marks())
    if (mark.phase == mark_phase::begins) ++spans[mark.name];
  std::map<std::string, Group> groups;
  for (const auto& [name, count] : spans) {
    const std::string_view full = stream.definitions().text(name);
    std::string common = without_numbers(full);
    if (common.empty()) common = full;
    Group& group = groups[common];
    group.spans += count;
    ++group.names;
    names_[name] = std::move(common);
  }
  for (auto& [name, common] : names_)
    if (const Group& group = groups[common]; group.spans > 2 * group.names) common = stream.definitions().text(name);
}

std::optional<std::vector<MarkedSpan>> find_marked_spans(const Trace& trace, PassControl* control) {
  const auto counted = find_counted_heaps(trace);
  std::vector<MarkedSpan> all;
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Stream& stream = trace.streams[i];
    const std::size_t first = all.size();
    std::map<std::uint32_t, std::uint32_t> heap_of;  // By device.
    for_each_marked_span(
        stream,
        [&](const Mark& begin, const Mark* end, int) {
          const auto [known, is_new] = heap_of.try_emplace(begin.device);
          if (is_new) known->second = largest_heap(stream, counted[i], begin.device);
          all.push_back({i, &begin, end, {static_cast<std::uint32_t>(i), known->second}});
        },
        [](const Mark&) {});
    const std::span<MarkedSpan> spans(all.data() + first, all.size() - first);
    std::stable_sort(spans.begin(), spans.end(),
                     [](const MarkedSpan& a, const MarkedSpan& b) { return a.begin->event < b.begin->event; });
    std::vector<std::uint32_t> heaps;
    for (const auto& [device, heap] : heap_of) heaps.push_back(heap);
    std::sort(heaps.begin(), heaps.end());
    heaps.erase(std::unique(heaps.begin(), heaps.end()), heaps.end());
    for (const std::uint32_t heap : heaps)
      if (heap != 0 && !find_most(stream, heap, spans, control)) return std::nullopt;
  }
  return all;
}

}  // namespace hbmscope
