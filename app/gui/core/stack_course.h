// Bytes in use of a heap over time, divided by the shades of a coloring: the bands of the timeline. One pass over the
// stream makes a bounded number of buckets, from which the columns of any visible span are quickly made; if the span
// shows fewer buckets than pixels, a pass over the span alone makes them exact.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"
#include "app/gui/core/timeline_span.h"
#include "app/gui/core/trace_colors.h"

namespace hbmscope::gui {

// Bytes by shade at one time; `lit`: of these, in blocks that match StackQuery::where.
struct Composition {
  std::array<std::uint64_t, shade_count> bytes{}, lit{};
  std::uint64_t total = 0;
  std::uint64_t position = 0;  // After the event that led to it.

  // Keeps the one with more bytes in use: a column shows its highest point, which existed, and not a mixture.
  void add(const Composition& other) {
    if (other.total > total) *this = other;
  }
  friend bool operator==(const Composition&, const Composition&) = default;
};

struct StackQuery {
  HeapKey heap;
  HeapColoring coloring = HeapColoring::user_code;  // The result of box_coloring().
  std::shared_ptr<const TraceColors> colors;
  std::string where = {};  // A filter of blocks that can_follow_blocks(). Empty if all are lit.
  friend bool operator==(const StackQuery&, const StackQuery&) = default;
};

// Whether a block matches the filter for its whole life: not if it asks for an age, a lifetime, a state or an offset.
// False if the text is no filter.
bool can_follow_blocks(const Trace& trace, std::string_view where);

class StackCourse {
 public:
  // Continues `before` if it is a course of the same query over the first events of the same stream, otherwise starts
  // anew. Nothing if cancelled.
  static std::optional<StackCourse> compute(const Trace& trace, const StackQuery& query, const StackCourse* before,
                                            PassControl* control);
  // For a span of the axis only, exact if it has at most 16,384 events.
  static std::optional<StackCourse> compute_span(const Trace& trace, const StackQuery& query, TimelineSpan span,
                                                 PassControl* control);

  const StackQuery& query() const { return query_; }
  TimelineSpan span() const { return span_; }
  std::uint64_t end_position() const { return end_position_; }
  std::uint64_t events_in_bucket() const { return events_in_bucket_; }
  bool is_exact() const { return events_in_bucket_ == 1; }
  std::size_t buckets_in(TimelineSpan span) const;
  std::size_t memory_bytes() const { return buckets_.size() * sizeof(Bucket) + sizeof(*this); }

  // `count` columns over the span.
  std::vector<Composition> columns(TimelineSpan span, std::size_t count) const;

 private:
  struct Bucket {
    std::int64_t first = 0;    // On the axis.
    std::uint64_t number = 0;  // Position of its first event, in units of `events_in_bucket_`.
    Composition most, last;
  };
  class Walk;

  StackCourse(const Stream& stream, const StackQuery& query, TimelineSpan span);
  bool is_of_start_of(const Stream& stream) const;
  bool extend(const Trace& trace, std::uint64_t begin, std::uint64_t end, PassControl* control);
  std::uint64_t number_of(std::uint64_t position) const;  // Of the bucket of an event.
  bool begins_bucket(std::uint64_t position, std::int64_t at) const;
  // False if the event belongs to the last bucket after all, because two each were made one.
  bool begin_bucket(std::uint64_t position, std::int64_t at);
  void halve();
  std::size_t bucket_at(std::int64_t at) const;  // The last one that begins at or before it; the first one otherwise.

  StackQuery query_;
  bool has_times_ = false;
  std::int64_t first_time_ns_ = 0;
  TimelineSpan span_;
  std::uint64_t end_position_ = 0, events_in_bucket_ = 1;  // A power of two.
  std::size_t blocks_seen_ = 0;
  wire::SharedBlock last_seen_;  // The last one of these blocks.
  std::vector<Bucket> buckets_;  // Never empty; the first one has what was live at the start.
};

// The courses of a device's other kinds of memory (VMEM beside HBM).
struct TierStacks {
  std::vector<std::shared_ptr<const StackCourse>> courses;

  std::shared_ptr<const StackCourse> find(std::uint32_t heap) const {
    for (const auto& course : courses)
      if (course->query().heap.heap == heap) return course;
    return nullptr;
  }
};

// What each device held, for small multiples on one axis.
struct DeviceStack {
  HeapKey heap;  // The largest of the device.
  std::string name;
  std::uint64_t peak = 0;
  std::shared_ptr<const StackCourse> course;
};
struct DeviceStacks {
  std::shared_ptr<const Trace> trace;
  std::vector<DeviceStack> devices;
};

}  // namespace hbmscope::gui
