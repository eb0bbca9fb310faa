#include "app/gui/core/stack_course.h"

#include <algorithm>
#include <bit>

#include "analysis/query/group_walk.h"
#include "app/gui/core/course.h"
#include "app/gui/core/lit_shades.h"
#include "app/gui/core/timeline_columns.h"

namespace hbmscope::gui {
namespace {

constexpr std::size_t buckets_max = 16'384;

}  // namespace

bool can_follow_blocks(const Trace& trace, std::string_view where) {
  if (!parse_where(where, block_where_fields(trace))) return false;
  for (const std::string_view field : {"age", "lifetime", "state", "offset"})
    if (filter_asks_for(trace, where, field)) return false;
  return true;
}

// Adds up the live bytes of each shade, and notes them after each event of the heap.
class StackCourse::Walk {
 public:
  Walk(const Trace& trace, StackCourse& course)
      : labels_(trace.streams[course.query_.heap.stream]), groups_(trace, labels_, course.query_), course_(course) {}

  bool run(const Stream& stream, std::uint64_t begin, std::uint64_t end, PassControl* control) {
    GroupWalk<LitShades, Walk> walk(stream, course_.query_.heap.heap, groups_, *this);
    return walk.run(begin, end, [control](std::uint64_t events) {
      if (control == nullptr) return true;
      control->done_events += events;
      return !control->cancelled;
    });
  }

  void changed(std::uint32_t number, std::uint64_t bytes) {
    if (number >= live_.size()) live_.resize(number + std::size_t{1});
    const Shade shade = groups_.shade_of(number);
    const auto change = [&](std::uint64_t& sum) { sum = sum - live_[number] + bytes; };
    change(now_.bytes[shade]);
    change(now_.total);
    if (groups_.is_lit(number)) change(now_.lit[shade]);
    live_[number] = bytes;
  }
  void point(const GroupPoint& point) {
    now_.position = point.position;
    const std::int64_t at =
        course_.has_times_ ? point.time_ns - course_.first_time_ns_ : static_cast<std::int64_t>(point.position);
    course_.note(point.position, point.position == 0 ? 0 : at, now_);
  }

 private:
  BlockLabels labels_;
  LitShades groups_;
  StackCourse& course_;
  std::vector<std::uint64_t> live_;  // By number.
  Composition now_;
};

StackCourse::StackCourse(const Stream& stream, const StackQuery& query, TimelineSpan span)
    : query_(query),
      has_times_(stream.has_times()),
      first_time_ns_(stream.has_times() ? stream.zero_ns() : 0),
      span_(span),
      buckets_(1) {}

std::optional<StackCourse> StackCourse::compute(const Trace& trace, const StackQuery& query, const StackCourse* before,
                                                PassControl* control) {
  const Stream& stream = trace.streams[query.heap.stream];
  const bool continues = before != nullptr && before->query_ == query && before->is_of_start_of(stream);
  StackCourse course = continues ? *before : StackCourse(stream, query, {});
  course.buckets_.reserve(buckets_max);
  course.span_ = whole_span_of(stream);
  if (!course.extend(trace, course.end_position_, stream.end_position(), control)) return std::nullopt;
  return course;
}

std::optional<StackCourse> StackCourse::compute_span(const Trace& trace, const StackQuery& query, TimelineSpan span,
                                                     PassControl* control) {
  const Stream& stream = trace.streams[query.heap.stream];
  StackCourse course(stream, query, span);
  const StreamPositions positions = positions_of(stream, span);
  course.buckets_.front().first = span.begin;
  course.buckets_.front().number = positions.begin;
  if (!course.extend(trace, positions.begin, positions.end, control)) return std::nullopt;
  return course;
}

bool StackCourse::extend(const Trace& trace, std::uint64_t begin, std::uint64_t end, PassControl* control) {
  const Stream& stream = trace.streams[query_.heap.stream];
  if (control != nullptr) control->total_events = end - begin;
  Walk walk(trace, *this);
  if (!walk.run(stream, begin, end, control)) return false;
  end_position_ = end;
  blocks_seen_ = stream.blocks().size();
  last_seen_ = blocks_seen_ == 0 ? nullptr : stream.blocks()[blocks_seen_ - 1];
  return true;
}

bool StackCourse::is_of_start_of(const Stream& stream) const {
  if (has_times_ != stream.has_times() || blocks_seen_ == 0 || blocks_seen_ > stream.blocks().size()) return false;
  return stream.blocks()[blocks_seen_ - 1] == last_seen_ && end_position_ <= stream.end_position();
}

void StackCourse::note(std::uint64_t position, std::int64_t at, const Composition& now) {
  const std::uint64_t number = (position == 0 ? 0 : position - 1) >> std::countr_zero(events_in_bucket_);
  if (number > buckets_.back().number || (buckets_.size() == 1 && at > buckets_.front().first)) {
    if (buckets_.size() == buckets_max) {
      halve();
      return note(position, at, now);
    }
    buckets_.push_back({std::max(at, buckets_.back().first), number, now, now});
    return;
  }
  buckets_.back().most.add(now);
  buckets_.back().last = now;
}

// Each two neighbouring buckets become one; there are at least two events in each from then on.
void StackCourse::halve() {
  events_in_bucket_ *= 2;
  std::vector<Bucket> kept;
  kept.reserve(buckets_max);
  for (Bucket& bucket : buckets_) {
    bucket.number /= 2;
    if (kept.size() < 2 || kept.back().number != bucket.number) {
      kept.push_back(bucket);
      continue;
    }
    kept.back().most.add(bucket.most);
    kept.back().last = bucket.last;
  }
  buckets_ = std::move(kept);
}

std::size_t StackCourse::bucket_at(std::int64_t at) const {
  const auto behind = std::upper_bound(buckets_.begin(), buckets_.end(), at,
                                       [](std::int64_t time, const Bucket& one) { return time < one.first; });
  return behind == buckets_.begin() ? 0 : static_cast<std::size_t>(behind - buckets_.begin()) - 1;
}

std::size_t StackCourse::buckets_in(TimelineSpan span) const {
  return bucket_at(span.end) - bucket_at(span.begin) + 1;
}

std::vector<Composition> StackCourse::columns(TimelineSpan span, std::size_t count) const {
  std::vector<Composition> columns;
  if (span.empty() || count == 0) return columns;
  const std::size_t first = bucket_at(span.begin), last = bucket_at(span.end);
  Course<Composition> course(columns, count, buckets_[first].last);
  for (std::size_t i = first + 1; i <= last; ++i) {
    const double share = static_cast<double>(buckets_[i].first - span.begin) / static_cast<double>(span.length());
    course.add(buckets_[i].most, buckets_[i].last, TimelineColumns::column_of(share, count));
  }
  course.finish();
  return columns;
}

}  // namespace hbmscope::gui
