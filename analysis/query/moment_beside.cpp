#include "analysis/query/moment_beside.h"

#include <algorithm>

namespace hbmscope {
namespace {

bool is_request(const wire::DecodedBlock& block, const RecordPlace& place, std::uint32_t heap) {
  if (place.kind == wire::RecordKind::alloc) return block.rows<wire::AllocRecord>()[place.row].heap == heap;
  return place.kind == wire::RecordKind::out_of_memory && block.rows<wire::OutOfMemoryRecord>()[place.row].heap == heap;
}

std::uint64_t requests_in(const wire::DecodedBlock& block, std::uint32_t heap) {
  std::uint64_t count = 0;
  for (const auto& row : block.rows<wire::AllocRecord>()) count += row.heap == heap ? 1 : 0;
  for (const auto& row : block.rows<wire::OutOfMemoryRecord>()) count += row.heap == heap ? 1 : 0;
  return count;
}

// A point of a program: between two requests, after so many frees since the first of them.
struct ProgramPoint {
  std::uint64_t requests = 0, frees = 0;
};

std::optional<ProgramPoint> point_at(const Stream& stream, std::uint32_t heap, std::uint64_t position,
                                     PassControl* control) {
  ProgramPoint point;
  const bool is_done =
      pass_over_records(stream, position, control, [&](const wire::DecodedBlock& block, const RecordPlace& place) {
        if (is_request(block, place, heap))
          point = {point.requests + 1, 0};
        else if (place.kind == wire::RecordKind::free)
          ++point.frees;
      });
  return is_done ? std::optional(point) : std::nullopt;
}

// Where a stream comes to a point of its program; where it has fewer frees between the two requests, just before the
// second one.
class PointSearch {
 public:
  PointSearch(std::uint32_t heap, ProgramPoint wanted) : heap_(heap), wanted_(wanted) {}

  void take(const wire::DecodedBlock& block) {
    if (is_over_) return;
    const std::uint64_t here = requests_in(block, heap_);
    if (now_.requests + here < wanted_.requests) {
      now_.requests += here;
      return;
    }
    for (RecordCursor cursor(block); !cursor.at_end() && !is_over_;) take(block, cursor.next());
  }
  MomentBeside found(std::uint64_t end_position) const {
    if (now_.requests < wanted_.requests) return {end_position, true};
    return {position_, !is_over_ && now_.frees < wanted_.frees};
  }

 private:
  void take(const wire::DecodedBlock& block, const RecordPlace& place) {
    const bool is_there = now_.requests == wanted_.requests;
    if (is_there && now_.frees == wanted_.frees) {
      // What a free gives back to the driver belongs to it.
      is_over_ = place.kind != wire::RecordKind::region_shrink;
      if (!is_over_) position_ = place.event + 1;
    } else if (is_request(block, place, heap_)) {
      is_over_ = is_there;
      if (is_over_) return;
      now_ = {now_.requests + 1, 0};
      position_ = place.event + 1;
    } else if (is_there) {
      now_.frees += place.kind == wire::RecordKind::free ? 1 : 0;
      if (wire::is_event(static_cast<std::uint16_t>(place.kind))) position_ = place.event + 1;
    }
  }

  std::uint32_t heap_;
  ProgramPoint wanted_, now_;
  std::uint64_t position_ = 0;
  bool is_over_ = false;
};

MomentBeside find_time(const Stream& stream, const Stream& other, std::uint64_t position) {
  if (!stream.has_times() || !other.has_times())
    return {std::min(position, other.end_position()), position > other.end_position()};
  const std::int64_t since =
      std::max(stream.state_at(position).time_ns(), stream.first_time_ns()) - stream.first_time_ns();
  const std::int64_t then = other.first_time_ns() + since;
  return {position == 0 ? 0 : other.position_of_time(then), then > other.last_time_ns()};
}

}  // namespace

std::optional<SameMoment> parse_same_moment(std::string_view name) {
  if (name == "time") return SameMoment::time;
  return name == "requests" ? std::optional(SameMoment::requests) : std::nullopt;
}

std::optional<std::uint64_t> count_requests(const Stream& stream, std::uint32_t heap, std::uint64_t position,
                                            PassControl* control) {
  const auto point = point_at(stream, heap, position, control);
  return point ? std::optional(point->requests) : std::nullopt;
}

std::optional<MomentBeside> find_moment_beside(const Trace& trace, HeapKey heap, std::uint64_t position,
                                               const Trace& other, HeapKey other_heap, SameMoment same,
                                               PassControl* control) {
  const Stream &stream = trace.streams[heap.stream], &beside = other.streams[other_heap.stream];
  if (same == SameMoment::time) return find_time(stream, beside, position);
  const auto point = point_at(stream, heap.heap, position, control);
  if (!point) return std::nullopt;
  PointSearch search(other_heap.heap, *point);
  const bool is_done = pass_over_blocks(beside, beside.end_position(), control,
                                        [&](const wire::DecodedBlock& block, std::size_t) { search.take(block); });
  return is_done ? std::optional(search.found(beside.end_position())) : std::nullopt;
}

}  // namespace hbmscope
