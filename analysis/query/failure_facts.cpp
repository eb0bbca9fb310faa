#include "analysis/query/failure_facts.h"

#include <algorithm>
#include <utility>

#include "analysis/model/clamped.h"
#include "analysis/query/heap_metrics.h"
#include "analysis/trace/pass_from.h"
#include "analysis/trace/reported_figures.h"

namespace hbmscope {
namespace {

// Finds the window of one region's chunks that is at least as large as the request and has the fewest bytes in use.
// Slides the window over every chunk of the region that leaves enough room.
class PlaceFinder {
 public:
  PlaceFinder(std::uint64_t bytes, Fewest fewest) : bytes_(bytes), fewest_(fewest) {}

  void add_region(const std::vector<HeapChunk>& chunks) {
    std::size_t end = 0;
    std::uint64_t size = 0, in_use = 0, blocks = 0;
    for (std::size_t begin = 0; begin < chunks.size(); ++begin) {
      for (; end < chunks.size() && size < bytes_; ++end) {
        size += chunks[end].range.size();
        in_use += in_use_of(chunks[end]);
        blocks += is_block(chunks[end]) ? 1 : 0;
      }
      if (size < bytes_) return;
      const auto cost = fewest_ == Fewest::bytes ? std::pair(in_use, blocks) : std::pair(blocks, in_use);
      if (!best_ || cost < best_cost_) {
        best_cost_ = cost;
        best_ = CheapestPlace{{chunks[begin].range.begin, chunks[end - 1].range.end}, in_use, {}};
      }
      size -= chunks[begin].range.size();
      in_use -= in_use_of(chunks[begin]);
      blocks -= is_block(chunks[begin]) ? 1 : 0;
    }
  }
  std::optional<CheapestPlace> take() { return std::move(best_); }

 private:
  static bool is_block(const HeapChunk& chunk) { return chunk.state == ChunkState::block; }
  static std::uint64_t in_use_of(const HeapChunk& chunk) { return is_block(chunk) ? chunk.range.size() : 0; }

  std::uint64_t bytes_;
  Fewest fewest_;
  std::pair<std::uint64_t, std::uint64_t> best_cost_;
  std::optional<CheapestPlace> best_;
};

std::optional<std::int64_t> since_start(const Stream& stream, std::int64_t time_ns) {
  if (!stream.has_times() || time_ns < stream.first_time_ns()) return std::nullopt;
  return stream.since_start_ns(time_ns);
}

}  // namespace

std::optional<CheapestPlace> find_cheapest_place(const StreamState& state, std::uint32_t heap, std::uint64_t bytes,
                                                 Fewest fewest, AddressRange within) {
  const AddressSpace& space = state.heap(heap).space;
  if (!space.knows_regions() || bytes == 0) return std::nullopt;
  std::vector<AddressRange> regions;
  space.for_each_region([&](AddressRange range) { regions.push_back(range); });
  PlaceFinder finder(bytes, fewest);
  std::vector<HeapChunk> chunks;  // The chunks of one region, in address order.
  std::size_t region = 0;
  space.for_each_chunk([&](const HeapChunk& chunk) {
    if (chunk.range.begin >= within.begin && chunk.range.end <= within.end) chunks.push_back(chunk);
    if (chunk.range.end < regions[region].end) return;
    finder.add_region(chunks);
    chunks.clear();
    ++region;
  });
  auto place = finder.take();
  if (!place) return place;
  for (const LiveBlock& block : state.slots())
    if (block.heap == heap && !space.is_loose(block.place) && block.address >= place->range.begin &&
        block.address < place->range.end)
      place->blocks.push_back(block);
  std::sort(place->blocks.begin(), place->blocks.end(),
            [](const LiveBlock& a, const LiveBlock& b) { return a.address < b.address; });
  return place;
}

std::optional<std::uint64_t> find_last_fit(const Stream& stream, std::uint32_t heap, std::uint64_t bytes,
                                           std::uint64_t before) {
  constexpr std::size_t at_once = 1024;
  constexpr std::uint64_t replayed_max = 65'536;
  const auto fits = [&](const HeapState& now) { return now.space.largest_free().value_or(0) >= bytes; };
  if (before == 0 || bytes == 0) return std::nullopt;
  // Narrow down to the last timeline bucket in which it fit, then replay that event by event.
  std::uint64_t begin = 0, end = before - 1;
  for (;;) {
    const auto buckets = stream.timeline(heap).buckets(begin, end, at_once);
    const auto last = std::find_if(buckets.rbegin(), buckets.rend(),
                                   [&](const TimelineBucket& bucket) { return bucket.most.largest_free >= bytes; });
    if (last == buckets.rend()) return std::nullopt;
    const std::uint64_t first = last->first_position,
                        next = last == buckets.rbegin() ? end : std::prev(last)->first_position;
    const std::uint64_t finer_begin = first == 0 ? 0 : first - 1, finer_end = std::min(end, next);
    const bool is_finest = finer_begin <= begin && finer_end >= end;
    begin = std::max(begin, finer_begin);
    end = finer_end;
    if (is_finest || end - begin <= replayed_max) break;
  }
  StreamState state = stream.state_at(begin);
  bool fitted = fits(state.heap(heap));
  std::optional<std::uint64_t> found;
  pass_over_states_from(
      stream, state, end, [](std::uint64_t) { return true; },
      [&](const StreamState& now, std::uint64_t position, std::int64_t, std::uint32_t changed) {
        if (changed != heap) return;
        if (fitted) found = position - 1;  // Until just before this event.
        fitted = fits(now.heap(heap));
      });
  return fitted ? end : found;
}

bool FailureFacts::is_free_known() const {
  return !is_of_driver && requested_bytes > 0 && free_bytes && !(is_inexact && free_blocks);
}

bool FailureFacts::has_room() const {
  return is_free_known() && largest_free_bytes && needed_bytes <= *largest_free_bytes;
}

bool FailureFacts::is_pool_at_limit() const {
  return limit_bytes && pool_bytes && clamped_sum(*pool_bytes, needed_bytes) > *limit_bytes;
}

namespace {

void find_places(FailureFacts& facts, const StreamState& state, AddressRange within) {
  facts.place = find_cheapest_place(state, facts.heap, facts.needed_bytes, Fewest::bytes, within);
  // One block can't be fewer.
  if (!facts.place || facts.place->blocks.size() <= 1) return;
  auto other = find_cheapest_place(state, facts.heap, facts.needed_bytes, Fewest::blocks, within);
  if (other && other->blocks.size() < facts.place->blocks.size()) facts.place_of_fewest_blocks = std::move(other);
}

// The addresses of the end whose largest free block is too small, with the gap, where that of the other one is not.
std::optional<AddressRange> find_end_without_room(const Stream& stream, std::uint32_t heap, const StreamState& state,
                                                  std::uint64_t bytes) {
  const LargestFit fit = find_largest_fit(stream.definitions().heap(heap), state);
  if (!fit.lower_end_bytes || !fit.upper_end_bytes) return std::nullopt;
  const bool lower_has_room = *fit.lower_end_bytes >= bytes, upper_has_room = *fit.upper_end_bytes >= bytes;
  if (lower_has_room == upper_has_room) return std::nullopt;
  const EndBounds bounds = find_end_bounds(state, heap);
  return lower_has_room ? AddressRange{bounds.last_lower, all_addresses.end} : AddressRange{0, bounds.first_upper};
}

}  // namespace

FailureFacts compute_failure_facts(const Stream& stream, std::size_t index) {
  return compute_failure_facts(stream, index, stream.state_at(stream.failures()[index].event));
}

FailureFacts compute_failure_facts(const Stream& stream, std::size_t index, const StreamState& state) {
  const FailureEvent& failure = stream.failures()[index];
  const AddressSpace& space = state.heap(failure.heap).space;
  FailureFacts facts;
  facts.heap = failure.heap;
  facts.heap_name = stream.definitions().heap(failure.heap).name;
  facts.event = failure.event;
  facts.since_start_ns = since_start(stream, failure.time_ns);
  facts.requested_bytes = failure.requested_bytes;
  const FailureRow row = row_from_failure(stream, failure, nullptr);
  facts.reason = row.reason;
  facts.log_line = row.line;
  facts.needed_bytes = row.rounded_bytes.value_or(failure.requested_bytes);
  facts.is_inexact = state.is_inexact(failure.heap);
  facts.free_bytes = space.free_bytes();
  facts.largest_free_bytes = space.largest_free();
  if (facts.free_bytes) facts.free_blocks = space.free_chunks();
  const auto reported = [&](std::string_view name) { return find_reported(stream, name, failure.heap, failure.event); };
  if (!facts.free_bytes) facts.free_bytes = reported(reported_figure::free);
  if (!facts.largest_free_bytes) facts.largest_free_bytes = reported(reported_figure::largest_free);
  facts.limit_bytes = find_limit_bytes(stream, failure.heap, failure.event);
  facts.pool_bytes = space.region_bytes();
  if (!facts.pool_bytes) facts.pool_bytes = reported(reported_figure::pool);
  facts.driver_bytes = failure.available_bytes;
  facts.is_of_driver = failure.is_refusal;
  facts.stack = failure.stack;
  if (!facts.is_free_known()) return facts;
  if (facts.has_room()) {
    if (const auto end = find_end_without_room(stream, failure.heap, state, facts.needed_bytes))
      find_places(facts, state, *end);
    return facts;
  }
  facts.last_fit = find_last_fit(stream, failure.heap, facts.needed_bytes, failure.event);
  if (facts.last_fit && *facts.last_fit > 0)
    facts.last_fit_since_start_ns = since_start(stream, stream.state_at(*facts.last_fit).time_ns());
  find_places(facts, state, all_addresses);
  return facts;
}

std::string_view why_no_failure_is_seen(const Trace& trace) {
  if (trace.import.count_of("not_finished") > 0)
    return "The recording is incomplete: what came after its end is unknown.";
  constexpr std::string_view losses[] = {"lost_bytes", "bad_blocks", "missing_block", "damaged_block"};
  if (std::any_of(std::begin(losses), std::end(losses), [&](auto one) { return trace.import.count_of(one) > 0; }))
    return "Parts of the recording are damaged or missing, so a failure in them could not be seen.";
  const bool could_have_events = trace.origin == TraceOrigin::history || trace.origin == TraceOrigin::recording;
  if (could_have_events && compute_event_counts(trace).total == 0)
    return "The file has no events, so a failure could not be seen.";
  return {};
}

}  // namespace hbmscope
