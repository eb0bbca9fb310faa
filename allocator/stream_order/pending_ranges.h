// Addresses that were given back while their stream may still use them. A stream's events are done in the order in
// which they were recorded, so that a range needs a number only: how many of its stream's events must be done.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "allocator/stream_order/streams.h"

namespace hbmscope::allocator {

// A stream's events, the oldest first.
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
  std::uint64_t first_ = 0;  // The number of the first one; all before are done.
};

class PendingRanges {
 public:
  // Of [begin, end), which nothing else is pending in.
  void add(std::uint64_t begin, std::uint64_t end, EventLine* line, std::uint64_t event);
  // Whether some of it is pending on another stream than this one.
  bool is_pending_elsewhere(std::uint64_t begin, std::uint64_t end, const EventLine* line);
  // Until that is not so; with null: until nothing is pending in it.
  void wait(std::uint64_t begin, std::uint64_t end, const EventLine* line);
  // It has a new owner who may use it.
  void cut(std::uint64_t begin, std::uint64_t end);
  std::size_t size() const { return ranges_.size(); }

 private:
  struct Range {
    std::uint64_t end;
    EventLine* line;
    std::uint64_t event;
  };
  using Ranges = std::map<std::uint64_t, Range>;  // By where they begin; none over another.
  Ranges::iterator first_in(std::uint64_t begin);
  void drop_done();

  Ranges ranges_;
  std::size_t size_to_drop_at_ = 64;
};

}  // namespace hbmscope::allocator
