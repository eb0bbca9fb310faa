#include "allocator/reference/stream_order/pending_ranges.h"

#include <algorithm>
#include <iterator>

namespace hbmscope::allocator {
namespace {

constexpr std::size_t events_before_a_look = 32;

}  // namespace

EventLine::~EventLine() {
  for (const Streams::Event event : events_) streams_.forget(event);
}

void EventLine::drop_done() {
  while (!events_.empty() && streams_.is_done(events_.front())) {
    streams_.forget(events_.front());
    events_.pop_front();
    ++first_;
  }
}

std::uint64_t EventLine::record() {
  if (events_.size() >= events_before_a_look) drop_done();
  events_.push_back(streams_.record(stream_));
  return first_ + events_.size() - 1;
}

bool EventLine::is_done(std::uint64_t number) {
  if (number >= first_) drop_done();
  return number < first_;
}

void EventLine::wait(std::uint64_t number) {
  if (number < first_) return;
  streams_.wait(events_[number - first_]);
  drop_done();
}

void PendingRanges::add(std::uint64_t begin, std::uint64_t end, EventLine* line, std::uint64_t event) {
  ranges_[begin] = {end, line, event};
  if (ranges_.size() >= size_to_drop_at_) drop_done();
}

void PendingRanges::drop_done() {
  for (auto range = ranges_.begin(); range != ranges_.end();)
    range = range->second.line->is_done(range->second.event) ? ranges_.erase(range) : std::next(range);
  size_to_drop_at_ = std::max<std::size_t>(64, 2 * ranges_.size());
}

// The first range that ends after `begin`.
PendingRanges::Ranges::iterator PendingRanges::first_in(std::uint64_t begin) {
  auto range = ranges_.upper_bound(begin);
  if (range != ranges_.begin() && std::prev(range)->second.end > begin) --range;
  return range;
}

bool PendingRanges::is_pending_elsewhere(std::uint64_t begin, std::uint64_t end, const EventLine* line) {
  for (auto range = first_in(begin); range != ranges_.end() && range->first < end; ++range)
    if (range->second.line != line && !range->second.line->is_done(range->second.event)) return true;
  return false;
}

void PendingRanges::wait(std::uint64_t begin, std::uint64_t end, const EventLine* line) {
  for (auto range = first_in(begin); range != ranges_.end() && range->first < end; ++range)
    if (range->second.line != line) range->second.line->wait(range->second.event);
}

void PendingRanges::cut(std::uint64_t begin, std::uint64_t end) {
  for (auto range = first_in(begin); range != ranges_.end() && range->first < end;) {
    const auto [from, what] = *range;
    range = ranges_.erase(range);
    if (from < begin) ranges_[from] = {begin, what.line, what.event};
    if (what.end > end) range = ranges_.emplace(end, Range{what.end, what.line, what.event}).first;
  }
}

}  // namespace hbmscope::allocator
