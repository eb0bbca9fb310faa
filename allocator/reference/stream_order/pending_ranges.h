// Freed addresses that their stream may still use. Events of one stream complete in the order in which they were
// recorded, so a range stores only a number: how many of its stream's events must complete first.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "allocator/reference/stream_order/streams.h"

namespace hbmscope::allocator {

// The events of one stream, oldest first.
class EventLine {
 public:
  EventLine(Streams& streams, Stream stream) : streams_(streams), stream_(stream) {}
  ~EventLine();
  EventLine(const EventLine&) = delete;
  EventLine& operator=(const EventLine&) = delete;

  std::uint64_t record();  // The number of the new event.
  bool is_done(std::uint64_t number);
  void wait(std::uint64_t number);
  bool is_capturing() { return streams_.is_capturing(stream_); }

 private:
  void drop_done();

  Streams& streams_;
  Stream stream_;
  std::deque<Streams::Event> events_;
  std::uint64_t first_ = 0;  // The number of the oldest event; all earlier ones are done.
};

class PendingRanges {
 public:
  // Adds [begin, end), in which nothing else may be pending.
  void add(std::uint64_t begin, std::uint64_t end, EventLine* line, std::uint64_t event);
  // Whether part of it is pending on a stream other than `line`.
  bool is_pending_elsewhere(std::uint64_t begin, std::uint64_t end, const EventLine* line);
  // Waits until is_pending_elsewhere() is false; with a null `line`, until nothing is pending in it.
  void wait(std::uint64_t begin, std::uint64_t end, const EventLine* line);
  // Removes the range: its new owner may use it.
  void cut(std::uint64_t begin, std::uint64_t end);
  std::size_t size() const { return ranges_.size(); }

 private:
  struct Range {
    std::uint64_t end;
    EventLine* line;
    std::uint64_t event;
  };
  using Ranges = std::map<std::uint64_t, Range>;  // By their first address; ranges do not overlap.
  Ranges::iterator first_in(std::uint64_t begin);
  void drop_done();

  Ranges ranges_;
  std::size_t size_to_drop_at_ = 64;
};

}  // namespace hbmscope::allocator
