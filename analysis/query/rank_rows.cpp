#include "analysis/query/rank_rows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/trace/layers.h"
#include "analysis/trace/stream_names.h"

namespace hbmscope {
namespace {

// Counts the stream's out-of-memories; the last one says which heap is meant.
void add_failures(const Stream& stream, RankRow& row) {
  if (stream.counts().failed_requests == 0) return;
  const FailureEvent* last = nullptr;
  for (const FailureEvent& failure : stream.failures()) {
    if (!failure.is_out_of_memory || is_of_extra_pool(stream, failure)) continue;
    ++row.failures;
    last = &failure;
  }
  if (last == nullptr) return;
  row.failure = row_from_failure(stream, *last, nullptr);
  row.heap.heap = last->heap;
}

void take_figures(const Stream& stream, const HeapRow& heap, std::uint64_t position, RankRow& row) {
  row.heap_name = heap.name;
  if (!heap.is_in_use_unknown) row.in_use_bytes = heap.in_use_bytes;
  row.peak_bytes = heap.peak_in_use_bytes;
  row.pool_bytes = heap.pool_bytes;
  row.largest_free_bytes = heap.largest_free_bytes;
  row.limit_bytes = find_limit_bytes(stream, row.heap.heap, position);
  row.device_bytes = find_device_bytes(stream, row.heap.heap, position);
  row.is_inexact = heap.is_inexact;
}

bool is_fuller(const RankRow& a, const RankRow& b) {
  const auto key = [](const RankRow& row) {
    return std::pair(row.fullness().value_or(-1), row.in_use_bytes.value_or(0));
  };
  return key(a) > key(b);
}

std::optional<double> share_of(std::optional<std::uint64_t> bytes, std::optional<std::uint64_t> whole) {
  if (!bytes || !whole) return std::nullopt;
  return static_cast<double>(*bytes) / static_cast<double>(*whole);
}

}  // namespace

std::optional<double> RankRow::fullness() const {
  if (const auto share = share_of_limit()) return share;
  return pool_bytes.value_or(0) > 0 ? share_of(in_use_bytes, pool_bytes) : std::nullopt;
}

std::optional<double> RankRow::share_of_limit() const {
  return share_of(in_use_bytes, limit_bytes ? limit_bytes : device_bytes);
}

std::vector<RankRow> compute_rank_rows(const Trace& trace, const std::vector<StreamState>& states) {
  std::vector<RankRow> rows;
  const std::vector<HeapRow> heaps = compute_heap_rows(trace, states);
  const auto counted = find_counted_heaps(trace);
  const auto names = find_stream_names(trace);
  std::size_t at = 0;  // In `heaps`, which has the heaps of all streams in their order.
  for (std::uint32_t i = 0; i < states.size(); ++i) {
    const Stream& stream = trace.streams[i];
    RankRow row;
    row.stream = row.heap.stream = i;
    row.name = names[i];
    row.rank = rank_of_stream(trace, i);
    add_failures(stream, row);
    std::optional<RankRow> fullest;
    for (const HeapInfo& info : stream.definitions().heaps()) {
      if (info.id == 0) continue;
      const HeapRow& heap = heaps[at++];
      const bool is_worth_showing =
          row.failure ? info.id == row.heap.heap
                      : counted[i][info.id] && (heap.peak_in_use_bytes > 0 || heap.pool_bytes.value_or(0) > 0);
      if (!is_worth_showing) continue;
      RankRow candidate = row;
      candidate.heap.heap = info.id;
      take_figures(stream, heap, states[i].position(), candidate);
      if (!fullest || is_fuller(candidate, *fullest)) fullest = std::move(candidate);
    }
    if (fullest)
      rows.push_back(std::move(*fullest));
    else if (row.failure)
      rows.push_back(std::move(row));
  }
  const HeapKey first = choose_heap(trace, {});
  const auto badness = [&](const RankRow& row) {
    const bool is_first = row.failures == 0 && !first.empty() && row.stream == first.stream;
    return std::tuple(row.failures > 0, is_first, row.share_of_limit().value_or(-1), row.peak_bytes);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const RankRow& a, const RankRow& b) { return badness(a) > badness(b); });
  return rows;
}

}  // namespace hbmscope
