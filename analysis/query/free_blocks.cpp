#include "analysis/query/free_blocks.h"

#include <algorithm>
#include <tuple>

#include "analysis/trace/pass.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

struct FreeFigures {
  std::uint64_t free = 0, scattered = 0;
};
FreeFigures figures_of(const AddressSpace& space) {
  const std::uint64_t free = space.free_bytes().value_or(0);
  return {free, free - space.largest_free().value_or(0)};
}

class HistoryMeter {
 public:
  HistoryMeter(const Stream& stream, std::uint32_t heap, std::size_t steps_max)
      : stream_(stream), heap_(heap), steps_max_(steps_max) {}

  void take(const StreamState& state, const HeapChange& change) {
    if (change.heap != heap_) return;
    if (change.what == HeapChange::What::allocated) {
      const wire::AllocRecord& block = change.allocated;
      note({change.position, block.requested == wire::unknown_bytes ? possible_size(block) : block.requested, false});
    }
    const FreeFigures now = figures_of(state.heap(heap_).space);
    // A listing moves nothing: it shows the result of earlier, unobserved changes.
    const bool is_listed = change.place.kind == wire::RecordKind{};
    if (now.scattered != last_.scattered && !is_listed) add_step(change, now);
    last_ = now;
  }

  FreeHistory finish() {
    for (const FailureEvent& failure : stream_.failures())
      if (failure.is_out_of_memory && failure.heap == heap_)
        requests_.push_back({failure.event + 1, failure.requested_bytes, true});
    std::stable_sort(requests_.begin(), requests_.end(),
                     [](const LargestRequest& a, const LargestRequest& b) { return a.position < b.position; });
    for (const LargestRequest& one : requests_)
      if (history_.requests.empty() || one.bytes > history_.requests.back().bytes) history_.requests.push_back(one);
    std::sort(history_.steps.begin(), history_.steps.end(), is_before);
    history_.steps.resize(std::min(history_.steps.size(), steps_max_));
    return std::move(history_);
  }

 private:
  static bool is_before(const ScatterStep& a, const ScatterStep& b) {
    return std::tuple(b.change(), a.position) < std::tuple(a.change(), b.position);
  }
  // Only requests above all earlier ones can be in the result.
  void note(const LargestRequest& request) {
    if (request.bytes <= most_) return;
    most_ = request.bytes;
    requests_.push_back(request);
  }
  void add_step(const HeapChange& change, FreeFigures now) {
    ScatterStep step;
    step.position = change.position;
    step.free_before = last_.free;
    step.free_after = now.free;
    step.fragmented_before = last_.scattered;
    step.fragmented_after = now.scattered;
    step.what = change.what;
    if (change.what == HeapChange::What::allocated) step.stack = change.allocated.stack;
    if (change.what == HeapChange::What::freed) step.stack = change.block->stack;
    if (step.stack >= stream_.definitions().stack_count()) step.stack = 0;
    ScatterStep& alike = largest_alike(step);
    const std::uint64_t times = alike.times + 1;
    if (times == 1 || is_before(step, alike)) {
      if (stream_.has_times())
        step.since_start_ns = stream_.since_start_ns(change.time_ns);
      alike = step;
    }
    alike.times = times;
  }
  // The largest so far of those that did the same to blocks of the same stack: a loop repeats them.
  ScatterStep& largest_alike(const ScatterStep& step) {
    constexpr std::size_t kinds = 2 * 3;
    const std::size_t what = step.what == HeapChange::What::allocated ? 0
                             : step.what == HeapChange::What::freed   ? 1
                                                                      : 2;
    const std::size_t key =
        std::size_t{step.stack} * kinds + what * 2 + (step.fragmented_after > step.fragmented_before ? 1 : 0);
    if (key >= alike_.size()) alike_.resize(key + 1, none);
    if (alike_[key] == none) {
      alike_[key] = static_cast<std::uint32_t>(history_.steps.size());
      history_.steps.emplace_back();
    }
    return history_.steps[alike_[key]];
  }

  static constexpr std::uint32_t none = ~std::uint32_t{0};
  const Stream& stream_;
  std::uint32_t heap_;
  std::size_t steps_max_;
  FreeFigures last_;
  std::vector<std::uint32_t> alike_;  // By stack, what it did and in which direction: index into the steps.
  std::uint64_t most_ = 0;
  std::vector<LargestRequest> requests_;
  FreeHistory history_;
};

}  // namespace

std::optional<FreeBlocks> find_free_blocks(const AddressSpace& space, std::size_t pieces_max) {
  if (!space.knows_regions()) return std::nullopt;
  FreeBlocks free;
  space.for_each_chunk([&](const HeapChunk& chunk) {
    if (chunk.state != ChunkState::free) return;
    ++free.count;
    free.bytes += chunk.range.size();
    free.by_size.add(chunk.range.size(), chunk.range.size());
    free.largest.push_back(chunk.range);
  });
  const auto is_before = [](const AddressRange& a, const AddressRange& b) {
    return a.size() != b.size() ? a.size() > b.size() : a.begin < b.begin;
  };
  const auto kept = static_cast<std::ptrdiff_t>(std::min(pieces_max, free.largest.size()));
  std::partial_sort(free.largest.begin(), free.largest.begin() + kept, free.largest.end(), is_before);
  free.largest.resize(static_cast<std::size_t>(kept));
  return free;
}

std::string sentence_of(const FreeBlocks& free, std::optional<std::uint64_t> request_bytes) {
  if (free.count == 0) {
    std::string text = "Nothing is free";
    if (request_bytes) text += "; the request was " + text_from_bytes(signed_from(*request_bytes));
    return text + ".";
  }
  std::string largest = text_from_bytes(signed_from(free.largest_bytes())), request;
  if (request_bytes) {
    TextPair pair = texts_from_bytes(signed_from(free.largest_bytes()), signed_from(*request_bytes));
    largest = std::move(pair.first);
    request = "; the request was " + pair.second;
  }
  if (free.count == 1) return largest + " is free, in one block" + request + ".";
  return text_from_bytes(signed_from(free.bytes)) + " is free, in " + text_from_count(signed_from(free.count)) +
         " blocks. The largest is " + largest + request + ".";
}

const LargestRequest* FreeHistory::largest_request_at(std::uint64_t position) const {
  const auto after = std::upper_bound(requests.begin(), requests.end(), position,
                                      [](std::uint64_t at, const LargestRequest& one) { return at < one.position; });
  return after == requests.begin() ? nullptr : &*(after - 1);
}

std::optional<FreeHistory> compute_free_history(const Stream& stream, std::uint32_t heap, std::size_t steps_max,
                                                PassControl* control) {
  if (control != nullptr) control->total_events += stream.end_position();
  HistoryMeter meter(stream, heap, steps_max);
  const bool is_whole = pass_over_heaps(
      stream, stream.end_position(), control,
      [&](const StreamState& state, const HeapChange& change, const wire::DecodedBlock&) { meter.take(state, change); },
      [](const wire::DecodedBlock&, const RecordPlace&) {});
  if (!is_whole) return std::nullopt;
  return meter.finish();
}

}  // namespace hbmscope
