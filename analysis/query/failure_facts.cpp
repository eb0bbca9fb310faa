#include "analysis/query/failure_facts.h"

#include <algorithm>
#include <utility>

#include "analysis/model/clamped.h"
#include "analysis/query/heap_metrics.h"
#include "analysis/trace/pass_from.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/units/format.h"

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
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(time_ns) -
                                   static_cast<std::uint64_t>(stream.first_time_ns()));
}

FailureVerdict verdict_of(const FailureFacts& facts) {
  const std::uint64_t needed = facts.needed_bytes;
  if (facts.is_of_driver)
    return facts.driver_bytes && needed > *facts.driver_bytes ? FailureVerdict::too_big : FailureVerdict::unknown;
  if (facts.is_inexact && facts.free_blocks) return FailureVerdict::unknown;
  if (!facts.free_bytes && facts.limit_bytes && needed >= *facts.limit_bytes) return FailureVerdict::too_big;
  if (!facts.free_bytes) return FailureVerdict::unknown;
  if (facts.requested_bytes == 0) return FailureVerdict::unknown;
  // Without a figure, the failure itself says that no free block was large enough.
  if (facts.largest_free_bytes && needed <= *facts.largest_free_bytes) return FailureVerdict::had_room;
  if (needed <= *facts.free_bytes) return FailureVerdict::fragmented;
  if (facts.driver_bytes && needed <= *facts.driver_bytes) return FailureVerdict::limit;
  if (facts.driver_bytes && needed - *facts.free_bytes <= *facts.driver_bytes) return FailureVerdict::split;
  return FailureVerdict::too_big;
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
  facts.verdict = verdict_of(facts);
  if (facts.verdict == FailureVerdict::had_room) {
    if (const auto end = find_end_without_room(stream, failure.heap, state, facts.needed_bytes))
      find_places(facts, state, *end);
    return facts;
  }
  if (facts.verdict == FailureVerdict::unknown) return facts;
  facts.last_fit = find_last_fit(stream, failure.heap, facts.needed_bytes, failure.event);
  if (facts.last_fit && *facts.last_fit > 0)
    facts.last_fit_since_start_ns = since_start(stream, stream.state_at(*facts.last_fit).time_ns());
  find_places(facts, state, all_addresses);
  return facts;
}

namespace {

// "6.00 GiB"; "Nothing" for 0.
std::string amount_text(std::uint64_t bytes) {
  return bytes == 0 ? "Nothing" : text_from_bytes(bytes);
}

// " 6.00 GiB was free on the device, outside the pool."; where that is unknown, that the pool is at its limit, or
// nothing.
std::string device_text(const FailureFacts& facts) {
  if (facts.driver_bytes) return " " + amount_text(*facts.driver_bytes) + " was free on the device, outside the pool.";
  return facts.is_pool_at_limit() ? " The pool is at its limit of " + text_from_bytes(*facts.limit_bytes) + "."
                                  : std::string();
}

// " (8 blocks)"; empty where the source does not report how many.
std::string blocks_text(const FailureFacts& facts) {
  if (*facts.free_bytes == 0 || !facts.free_blocks) return {};
  return *facts.free_blocks == 1 ? " (one block)"
                                 : " (" + text_from_count(signed_from(*facts.free_blocks)) + " blocks)";
}

// "12.0 GiB was free in the pool (8 blocks). 6.00 GiB was free on the device, outside the pool."
std::string free_text(const FailureFacts& facts) {
  return amount_text(*facts.free_bytes) + " was free in the pool" + blocks_text(facts) + "." + device_text(facts);
}

std::string sentence_of_driver(const FailureFacts& facts) {
  const std::string requested = text_from_request(facts.requested_bytes);
  if (!facts.driver_bytes)
    return fmt::format("The driver refused {}; how much was free on the device is unknown.", requested);
  const TextPair pair = texts_from_bytes(signed_from(facts.requested_bytes), signed_from(*facts.driver_bytes));
  if (facts.verdict == FailureVerdict::too_big)
    return "Not enough memory on the device: requested " + pair.first + ", and " + pair.second + " was free.";
  return fmt::format("The driver refused {}, although {} was free on the device.",
                     facts.requested_bytes == 0 ? requested : pair.first, pair.second);
}

std::string not_enough_text(const FailureFacts& facts) {
  if (!facts.free_bytes) {
    const TextPair pair = texts_from_bytes(signed_from(facts.requested_bytes), signed_from(*facts.limit_bytes));
    return "Not enough memory: requested " + pair.first + ", and the limit is " + pair.second + ".";
  }
  const std::uint64_t all = clamped_sum(*facts.free_bytes, facts.driver_bytes.value_or(0));
  const TextPair pair = texts_from_bytes(signed_from(facts.requested_bytes), signed_from(all));
  return "Not enough memory: requested " + pair.first + ", and even all free memory together (" + pair.second +
         ") is less. " + free_text(facts);
}

}  // namespace

std::string sentence_of(const FailureFacts& facts) {
  const std::string requested = "Requested " + text_from_request(facts.requested_bytes);
  if (facts.is_of_driver) return sentence_of_driver(facts);
  if (facts.verdict == FailureVerdict::too_big) return not_enough_text(facts);
  if (facts.verdict == FailureVerdict::unknown && facts.is_inexact)
    return requested +
           "; how much was free is unknown, because events of this heap were lost or contradict each other.";
  if (!facts.free_bytes) return requested + "; how much was free is unknown.";
  const TextPair pair =
      texts_from_bytes(signed_from(facts.requested_bytes), signed_from(facts.largest_free_bytes.value_or(0)));
  const std::string largest = facts.largest_free_bytes ? "the largest free block is " + pair.second
                                                       : std::string("no free block is large enough");
  switch (facts.verdict) {
    case FailureVerdict::fragmented:
      return "Fragmented: requested " + pair.first + "; " + text_from_bytes(*facts.free_bytes) + " is free in total" +
             blocks_text(facts) + ", but " + largest + "." + device_text(facts);
    case FailureVerdict::split:
      return "Free memory is split between the pool and the device: requested " + pair.first + ", but " + largest +
             ". " + free_text(facts);
    case FailureVerdict::limit:
      return "A limit of the process or the allocator was reached: requested " + pair.first + ". " + free_text(facts);
    case FailureVerdict::had_room:
      return "Requested " + pair.first + ", and " + largest + ", but the allocator did not use it. " + free_text(facts);
    default: return requested + ". " + free_text(facts);
  }
}

std::string unknowns_of(const FailureFacts& facts) {
  std::string text;
  const auto add = [&](std::string_view words) { text += (text.empty() ? "" : " ") + std::string(words); };
  if (facts.is_of_driver) {
    if (!facts.driver_bytes) add("The free memory on the device is unknown.");
    return text;
  }
  if (facts.is_inexact && facts.free_blocks)
    add("According to the remaining events, " + text_from_bytes(*facts.free_bytes) +
        " was free, the largest free block " + text_from_bytes(facts.largest_free_bytes.value_or(0)) +
        "; neither is exact.");
  else if (facts.verdict == FailureVerdict::unknown)
    add("The free memory of this heap is unknown, because its regions are not reported.");
  if (!facts.driver_bytes && !facts.is_pool_at_limit())
    add("The free memory on the device outside the pool is unknown.");
  if (facts.verdict == FailureVerdict::had_room)
    add("Which free blocks the request may use is unknown: not those of another stream or of a private pool.");
  if (facts.verdict == FailureVerdict::limit && !facts.limit_bytes) add("The limit is unknown.");
  return text;
}

}  // namespace hbmscope
