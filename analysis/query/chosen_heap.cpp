#include "analysis/query/chosen_heap.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analysis/trace/layers.h"
#include "analysis/trace/stream_names.h"

namespace hbmscope {
namespace {

// A file may report that a request failed on a heap, but not the heap's contents. Views call this in every frame, and a
// job that catches its failures may have a million of them: check only the last few.
bool has_failed(const Stream& stream, std::uint32_t heap) {
  constexpr std::size_t looked_at = 64;
  const auto& failures = stream.failures();
  for (std::size_t i = 0; i < std::min(looked_at, failures.size()); ++i) {
    const FailureEvent& failure = failures[failures.size() - 1 - i];
    if (failure.is_out_of_memory && failure.heap == heap) return true;
  }
  return false;
}

// The heap held something, or a request on it failed.
bool is_worth_showing(const Stream& stream, std::uint32_t heap) {
  return !stream.timeline(heap).empty() || has_failed(stream, heap);
}

// How full the heap was at its peak; nothing if its size is unknown.
std::optional<double> fullness_of(const Stream& stream, std::uint32_t heap) {
  std::uint64_t pool = 0;
  for (const TimelineBucket& bucket : stream.timeline(heap).buckets(0, stream.end_position(), 1)) {
    if (!bucket.knows_regions) return std::nullopt;
    pool = std::max(pool, bucket.most.pool);
  }
  if (pool == 0) return std::nullopt;
  return static_cast<double>(stream.peak(heap).in_use_bytes) / static_cast<double>(pool);
}

// A device may have memories of several kinds (HBM, VMEM). A small one that is nearly full says more than a large one
// that is nearly empty. But a few bytes of flags are always full, and of two full memories the large one says more.
HeapKey fullest_of_device(const Trace& trace, HeapKey chosen) {
  const Stream& stream = trace.streams[chosen.stream];
  const HeapInfo& first = stream.definitions().heap(chosen.heap);
  constexpr std::uint64_t bytes_min = 1 << 20;
  constexpr double clearly = 1.01;
  const std::uint64_t small = std::min(bytes_min, stream.peak(first.id).in_use_bytes);
  std::optional<double> highest;
  for (const HeapInfo& info : stream.definitions().heaps()) {
    const bool is_other_memory = info.id != 0 && info.memory_kind != first.memory_kind && info.layer == first.layer &&
                                 info.device == first.device && !is_host_kind(info.memory_kind) && !is_extra_pool(info);
    if (!is_other_memory || !is_worth_showing(stream, info.id)) continue;
    if (!highest) highest = fullness_of(stream, first.id);
    const auto fullness = fullness_of(stream, info.id);
    if (!highest || !fullness || *fullness <= *highest * clearly) continue;
    if (stream.peak(info.id).in_use_bytes < small) continue;
    highest = fullness;
    chosen.heap = info.id;
  }
  return chosen;
}

}  // namespace

bool has_heap(const Trace& trace, HeapKey key) {
  return key.stream < trace.streams.size() && key.heap < trace.streams[key.stream].definitions().heaps().size();
}

std::vector<NamedHeap> heaps_of(const Trace& trace) {
  std::vector<NamedHeap> heaps;
  const auto labels = find_heap_labels(trace, HeapLabels::streams);
  for (std::uint32_t i = 0; i < trace.streams.size(); ++i)
    for (const HeapInfo& info : trace.streams[i].definitions().heaps()) {
      if (info.id == 0 || !is_worth_showing(trace.streams[i], info.id)) continue;
      heaps.push_back({{i, info.id}, labels[i][info.id]});
    }
  if (!trace.stream_files.empty() || trace.streams.size() < 2) return heaps;
  std::vector<std::optional<std::uint32_t>> ranks;
  for (std::size_t i = 0; i < trace.streams.size(); ++i) ranks.push_back(rank_of_stream(trace, i));
  std::stable_sort(heaps.begin(), heaps.end(),
                   [&](const NamedHeap& a, const NamedHeap& b) { return ranks[a.key.stream] < ranks[b.key.stream]; });
  return heaps;
}

std::vector<NamedHeap> heaps_with_failure(const Trace& trace) {
  std::vector<NamedHeap> heaps = heaps_of(trace);
  std::erase_if(heaps, [&](const NamedHeap& heap) {
    const auto& failures = trace.streams[heap.key.stream].failures();
    return std::none_of(failures.begin(), failures.end(), [&](const FailureEvent& failure) {
      return failure.is_out_of_memory && failure.heap == heap.key.heap;
    });
  });
  return heaps;
}

Result<HeapKey> find_heap(const Trace& trace, std::string_view name) {
  std::string names;
  for (const NamedHeap& heap : heaps_of(trace)) {
    if (heap.name == name) return heap.key;
    names += (names.empty() ? "" : ", ") + heap.name;
  }
  return Failure(refusal(fmt::format("there is no heap '{}'", name),
                         names.empty() ? "None of them ever held anything." : "There are: " + names + "."));
}

HeapKey choose_heap(const Trace& trace, HeapKey wanted) {
  const auto can_be_shown = [&](HeapKey key) {
    return !key.empty() && has_heap(trace, key) && trace.streams[key.stream].definitions().heaps()[key.heap].id != 0 &&
           is_worth_showing(trace.streams[key.stream], key.heap);
  };
  if (can_be_shown(wanted)) return wanted;
  // Views call this in every frame, and a job that catches its failures may have a million of them: search backwards.
  HeapKey best, beside;
  const FailureEvent* last = nullptr;
  std::pair<bool, std::uint64_t> highest;
  for (std::uint32_t i = 0; i < trace.streams.size(); ++i) {
    const Stream& stream = trace.streams[i];
    const auto& failures = stream.failures();
    for (std::size_t at = stream.counts().failed_requests == 0 ? 0 : failures.size(); at-- > 0;) {
      const FailureEvent& failure = failures[at];
      if (!failure.is_out_of_memory || is_of_extra_pool(stream, failure) || !can_be_shown({i, failure.heap})) continue;
      if (last == nullptr || failure.time_ns >= last->time_ns) {
        last = &failure;
        best = {i, failure.heap};
      }
      break;
    }
    for (const HeapInfo& info : stream.definitions().heaps()) {
      if (last != nullptr || !can_be_shown({i, info.id})) continue;
      if (is_extra_pool(info)) {
        beside = {i, info.id};
        continue;
      }
      const std::pair peak{info.has(wire::heap_flag::is_inside_of_driver) && !is_host_kind(info.memory_kind),
                           stream.peak(info.id).in_use_bytes};
      if (!best.empty() && peak <= highest) continue;
      best = {i, info.id};
      highest = peak;
    }
  }
  if (best.empty()) return beside;
  return last == nullptr ? fullest_of_device(trace, best) : best;
}

HeapKey choose_alike(const Trace& trace, const Trace& other, HeapKey other_heap) {
  if (other_heap.empty()) return choose_heap(trace, {});
  const std::string& name = other.streams[other_heap.stream].definitions().heap(other_heap.heap).name;
  // Streams of several processes have heaps of the same name: try the stream with the same index first.
  if (other_heap.stream < trace.streams.size())
    for (const HeapInfo& heap : trace.streams[other_heap.stream].definitions().heaps())
      if (heap.id != 0 && heap.name == name && is_worth_showing(trace.streams[other_heap.stream], heap.id))
        return {other_heap.stream, heap.id};
  for (std::uint32_t i = 0; i < trace.streams.size(); ++i)
    for (const HeapInfo& heap : trace.streams[i].definitions().heaps())
      if (heap.id != 0 && heap.name == name && is_worth_showing(trace.streams[i], heap.id)) return {i, heap.id};
  return choose_heap(trace, {});
}

std::size_t row_of_heap(const Trace& trace, HeapKey key) {
  std::size_t row = 0;
  for (std::size_t i = 0; i <= key.stream; ++i)
    for (const HeapInfo& heap : trace.streams[i].definitions().heaps()) {
      if (heap.id == 0) continue;
      if (i == key.stream && heap.id == key.heap) return row;
      ++row;
    }
  return row;
}

}  // namespace hbmscope
