#include "analysis/query/moment_comparison.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/model/clamped.h"
#include "analysis/trace/pass.h"

namespace hbmscope {
namespace {

// What an event did to the heap.
enum class RequestStep : std::uint8_t { request, free, given_back, other };

// A point of a program: after a number of requests to a heap, and of frees since the last of them.
struct ProgramPoint {
  std::uint64_t requests = 0, frees = 0;

  void take(RequestStep step) {
    if (step == RequestStep::request) *this = {requests + 1, 0};
    if (step == RequestStep::free) ++frees;
  }
  friend auto operator<=>(const ProgramPoint&, const ProgramPoint&) = default;
};

std::uint64_t requests_in(const wire::DecodedBlock& block, std::uint32_t heap) {
  std::uint64_t count = 0;
  for (const auto& row : block.rows<wire::AllocRecord>()) count += row.heap == heap ? 1 : 0;
  for (const auto& row : block.rows<wire::OutOfMemoryRecord>()) count += row.heap == heap ? 1 : 0;
  return count;
}

RequestStep step_of_record(const wire::DecodedBlock& block, const RecordPlace& place, std::uint32_t heap) {
  switch (place.kind) {
    case wire::RecordKind::alloc:
      return block.rows<wire::AllocRecord>()[place.row].heap == heap ? RequestStep::request : RequestStep::other;
    case wire::RecordKind::out_of_memory:
      return block.rows<wire::OutOfMemoryRecord>()[place.row].heap == heap ? RequestStep::request : RequestStep::other;
    case wire::RecordKind::free: return RequestStep::free;
    case wire::RecordKind::region_shrink: return RequestStep::given_back;
    default: return RequestStep::other;
  }
}

RequestStep step_of_change(const HeapChange& change) {
  if (change.what == HeapChange::What::allocated) return RequestStep::request;
  if (change.what == HeapChange::What::freed) return RequestStep::free;
  return change.place.kind == wire::RecordKind::region_shrink ? RequestStep::given_back : RequestStep::other;
}

// A free does not name the heap of its block. With a single heap that is clear, and no state is needed.
bool has_one_heap(const Stream& stream) {
  const auto& heaps = stream.definitions().heaps();
  return std::count_if(heaps.begin(), heaps.end(), [](const HeapInfo& heap) { return heap.id != 0; }) == 1;
}

// Calls take(step, position after it) for each of the first `end` events. Returns false if it was cancelled.
template <class Take>
bool pass_over_steps(const Stream& stream, std::uint32_t heap, std::uint64_t end, PassControl* control,
                     const Take& take) {
  const bool is_alone = has_one_heap(stream);
  const auto take_record = [&](const wire::DecodedBlock& block, const RecordPlace& place) {
    if (!wire::is_event(static_cast<std::uint16_t>(place.kind))) return;
    const RequestStep step = step_of_record(block, place, heap);
    take(step == RequestStep::free && !is_alone ? RequestStep::other : step, place.event + 1);
  };
  if (is_alone) return pass_over_records(stream, end, control, take_record);
  return pass_over_heaps(
      stream, end, control,
      [&](const StreamState&, const HeapChange& change, const wire::DecodedBlock&) {
        if (!wire::is_event(static_cast<std::uint16_t>(change.place.kind))) return;
        take(change.heap == heap ? step_of_change(change) : RequestStep::other, change.position);
      },
      take_record);
}

// The points of a program at ascending positions.
std::optional<std::vector<ProgramPoint>> points_at(const Stream& stream, std::uint32_t heap,
                                                   std::span<const std::uint64_t> positions, PassControl* control) {
  std::vector<ProgramPoint> points;
  ProgramPoint now;
  const std::uint64_t end = positions.empty() ? 0 : positions.back();
  const bool is_done = pass_over_steps(stream, heap, end, control, [&](RequestStep step, std::uint64_t after) {
    while (points.size() < positions.size() && positions[points.size()] < after) points.push_back(now);
    now.take(step);
  });
  points.resize(positions.size(), now);
  return is_done ? std::optional(std::move(points)) : std::nullopt;
}

// Finds the positions where a stream reaches ascending points of its program. If it has fewer frees between two
// requests, the position is just before the second one.
class PointSearch {
 public:
  explicit PointSearch(std::vector<ProgramPoint> wanted) : wanted_(std::move(wanted)) {}

  void take(RequestStep step, std::uint64_t position) {
    while (found_.size() < wanted_.size() && is_over(wanted_[found_.size()], step))
      found_.push_back({position_, false});
    now_.take(step);
    position_ = position;
  }
  std::vector<MatchingMoment> found(std::uint64_t end_position) {
    while (found_.size() < wanted_.size()) {
      const ProgramPoint& next = wanted_[found_.size()];
      found_.push_back(now_.requests < next.requests ? MatchingMoment{end_position, true}
                                                     : MatchingMoment{position_, now_.frees < next.frees});
    }
    return std::move(found_);
  }

 private:
  // Whether the next step leads away from the point. A free also includes the memory that it returns to the driver.
  bool is_over(const ProgramPoint& point, RequestStep step) const {
    if (now_.requests != point.requests) return false;
    return now_.frees == point.frees ? step != RequestStep::given_back : step == RequestStep::request;
  }

  std::vector<ProgramPoint> wanted_;
  std::vector<MatchingMoment> found_;
  ProgramPoint now_;
  std::uint64_t position_ = 0;
};

MatchingMoment find_time(const Stream& stream, const Stream& other, std::uint64_t position) {
  if (!stream.has_times() || !other.has_times())
    return {std::min(position, other.end_position()), position > other.end_position()};
  const std::int64_t since =
      clamped_difference(std::max(stream.state_at(position).time_ns(), stream.zero_ns()), stream.zero_ns());
  const std::int64_t then = clamped_sum(other.zero_ns(), since);
  return {position == 0 ? 0 : other.position_of_time(then), then > other.last_time_ns()};
}

}  // namespace

std::optional<SameMoment> parse_same_moment(std::string_view name) {
  if (name == "time") return SameMoment::time;
  return name == "requests" ? std::optional(SameMoment::requests) : std::nullopt;
}

std::string_view text_from_same_moment(SameMoment same) {
  return same == SameMoment::time ? "time" : "requests";
}

std::optional<std::uint64_t> count_requests(const Stream& stream, std::uint32_t heap, std::uint64_t position,
                                            PassControl* control) {
  std::uint64_t count = 0;
  const bool is_done = pass_over_blocks(stream, position, control, [&](const wire::DecodedBlock& block, std::size_t) {
    if (block.header().first_event + block.header().events <= position) {
      count += requests_in(block, heap);
      return;
    }
    for (RecordCursor cursor(block); !cursor.at_end();) {
      const RecordPlace place = cursor.next();
      count += place.event < position && step_of_record(block, place, heap) == RequestStep::request ? 1 : 0;
    }
  });
  return is_done ? std::optional(count) : std::nullopt;
}

std::optional<MatchingMoment> find_matching_moment(const Trace& trace, HeapKey heap, std::uint64_t position,
                                                   const Trace& other, HeapKey other_heap, SameMoment same,
                                                   PassControl* control) {
  if (&trace == &other && heap == other_heap) return MatchingMoment{position, false};
  const Stream &stream = trace.streams[heap.stream], &beside = other.streams[other_heap.stream];
  if (same == SameMoment::time) return find_time(stream, beside, position);
  const auto found = find_matching_positions(stream, heap.heap, std::array{position}, beside, other_heap.heap, control);
  return found ? std::optional(found->front()) : std::nullopt;
}

std::optional<std::vector<MatchingMoment>> find_matching_positions(const Stream& stream, std::uint32_t heap,
                                                                   std::span<const std::uint64_t> positions,
                                                                   const Stream& other, std::uint32_t other_heap,
                                                                   PassControl* control) {
  auto points = points_at(stream, heap, positions, control);
  if (!points) return std::nullopt;
  PointSearch search(std::move(*points));
  const bool is_done = pass_over_steps(other, other_heap, other.end_position(), control,
                                       [&](RequestStep step, std::uint64_t after) { search.take(step, after); });
  return is_done ? std::optional(search.found(other.end_position())) : std::nullopt;
}

}  // namespace hbmscope
