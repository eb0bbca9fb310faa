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

// Adds up the live bytes of each shade, and notes them after each event of the heap. A composition is copied only when
// a bucket ends or what is in use falls below the most of its bucket: most events do neither.
class StackCourse::Walk {
 public:
  Walk(const Trace& trace, StackCourse& course)
      : labels_(trace.streams[course.query_.heap.stream]),
        groups_(trace, labels_, course.query_),
        course_(course),
        most_(course.buckets_.back().most.total) {}

  bool run(const Stream& stream, std::uint64_t begin, std::uint64_t end, PassControl* control) {
    GroupWalk<LitShades, Walk> walk(stream, course_.query_.heap.heap, groups_, *this);
    const bool is_complete = walk.run(begin, end, [control](std::uint64_t events) {
      if (control == nullptr) return true;
      control->done_events += events;
      return !control->cancelled;
    });
    finish_bucket();
    return is_complete;
  }

  void changed(std::uint32_t number, std::uint64_t bytes) {
    if (number >= live_.size()) live_.resize(number + std::size_t{1});
    changes_.push_back({bytes - live_[number], groups_.shade_of(number), groups_.is_lit(number)});
    live_[number] = bytes;
  }
  void point(const GroupPoint& point) {
    const std::int64_t at = point.position == 0  ? 0
                            : course_.has_times_ ? point.time_ns - course_.first_time_ns_
                                                 : static_cast<std::int64_t>(point.position);
    const std::uint64_t before = now_.total;
    std::uint64_t total = before;
    for (const Change& change : changes_) total += change.bytes;
    bool begins_bucket = course_.begins_bucket(point.position, at);
    if (begins_bucket)
      finish_bucket();
    else if (is_at_most_ && total <= before)
      keep_most();
    for (const Change& change : changes_) {
      now_.bytes[change.shade] += change.bytes;
      if (change.is_lit) now_.lit[change.shade] += change.bytes;
    }
    changes_.clear();
    now_.total = total;
    now_.position = point.position;
    has_point_ = true;
    if (begins_bucket) {
      begins_bucket = course_.begin_bucket(point.position, at);
      most_ = course_.buckets_.back().most.total;
    }
    if (begins_bucket || total > most_) {
      most_ = total;
      is_at_most_ = true;
    }
  }

 private:
  struct Change {
    std::uint64_t bytes = 0;  // Modulo 2^64.
    Shade shade = 0;
    bool is_lit = true;
  };

  void keep_most() {
    course_.buckets_.back().most = now_;
    is_at_most_ = false;
  }
  void finish_bucket() {
    if (!has_point_) return;
    if (is_at_most_) keep_most();
    course_.buckets_.back().last = now_;
  }

  BlockLabels labels_;
  LitShades groups_;
  StackCourse& course_;
  std::vector<std::uint64_t> live_;  // By number.
  std::vector<Change> changes_;      // Since the last point.
  Composition now_;                  // At the last point.
  bool has_point_ = false;
  std::uint64_t most_ = 0;   // The most of the last bucket.
  bool is_at_most_ = false;  // `now_` is that, and the bucket doesn't have it yet.
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

std::uint64_t StackCourse::number_of(std::uint64_t position) const {
  return (position == 0 ? 0 : position - 1) >> std::countr_zero(events_in_bucket_);
}

bool StackCourse::begins_bucket(std::uint64_t position, std::int64_t at) const {
  return number_of(position) > buckets_.back().number || (buckets_.size() == 1 && at > buckets_.front().first);
}

bool StackCourse::begin_bucket(std::uint64_t position, std::int64_t at) {
  while (buckets_.size() == buckets_max) {
    halve();
    if (!begins_bucket(position, at)) return false;
  }
  buckets_.push_back({std::max(at, buckets_.back().first), number_of(position), {}, {}});
  return true;
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
