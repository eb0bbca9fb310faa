#include "analysis/query/heap_metrics.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/query/allocation_times.h"
#include "analysis/trace/pass.h"

namespace hbmscope {
namespace {

std::uint64_t elapsed(std::int64_t from_ns, std::int64_t to_ns) {
  // A clock may step back a little; clamp such lifetimes at 0.
  return to_ns <= from_ns ? 0 : static_cast<std::uint64_t>(to_ns) - static_cast<std::uint64_t>(from_ns);
}

class StreamMeter {
 public:
  StreamMeter(const Stream& stream, const StreamState& state, const MetricsOptions& options)
      : stream_(stream), state_(state), metrics_(stream.definitions().heaps().size()) {
    for (std::uint32_t heap = 0; heap < metrics_.size(); ++heap) {
      HeapMetrics& metrics = metrics_[heap];
      // The peak divided by the maximum number of steps.
      const std::uint64_t count = std::max<std::size_t>(1, options.high_waters_max);
      const std::uint64_t peak = stream.peak(heap).in_use_bytes;
      metrics.high_water_step_bytes =
          std::max({std::uint64_t{1}, options.high_water_step_bytes, peak / count + (peak % count > 0 ? 1 : 0)});
      if (!stream.has_times()) continue;
      metrics.ages.by_ns.emplace();
      metrics.lifetimes.by_ns.emplace();
      metrics.peak_so_far.since_start_ns = 0;
    }
  }

  bool run(PassControl* control) {
    const bool is_whole = pass_over_heaps(
        stream_, state_.position(), control,
        [&](const StreamState& state, const HeapChange& change, const wire::DecodedBlock& block) {
          take_handles(change, block);
          take(state, change, metrics_[change.heap]);
        },
        [](const wire::DecodedBlock&, const RecordPlace&) {});
    if (!is_whole) return false;
    for (std::uint32_t heap = 1; heap < metrics_.size(); ++heap) measure(heap, metrics_[heap]);
    for (const LiveBlock& block : state_.slots())
      if (block.is_live()) measure(block, metrics_[block.heap]);
    for (const PhysicalHandle& handle : state_.physical().handles())
      if (handle.is_live() && !handle.is_imported) measure(handle, metrics_[handle.heap]);
    return true;
  }

  void append_to(std::vector<HeapMetrics>& all) {
    for (const HeapInfo& heap : stream_.definitions().heaps())
      if (heap.id != 0) all.push_back(std::move(metrics_[heap.id]));
  }

 private:
  void take(const StreamState& state, const HeapChange& change, HeapMetrics& metrics) {
    if (change.what == HeapChange::What::allocated) {
      times_.add(change.position - 1, change.time_ns, state);
      metrics.allocated_bytes = clamped_sum(metrics.allocated_bytes, possible_size(change.allocated));
      ++metrics.allocations;
    } else if (change.what == HeapChange::What::freed) {
      const LiveBlock& block = *change.block;
      note(metrics.lifetimes, {block.event, block.size}, change.position - 1, change.time_ns, times_.take(block.event));
    }
    const HighWater latest = high_water(change, state.in_use_bytes(change.heap));
    if (latest.in_use_bytes > metrics.peak_so_far.in_use_bytes) metrics.peak_so_far = latest;
    const std::uint64_t last = metrics.high_waters.empty() ? 0 : metrics.high_waters.back().in_use_bytes;
    if (latest.in_use_bytes > last && latest.in_use_bytes - last >= metrics.high_water_step_bytes)
      metrics.high_waters.push_back(latest);
  }

  void take_handles(const HeapChange& change, const wire::DecodedBlock& block) {
    if (change.place.kind == wire::RecordKind::physical_create) {
      const auto& made = block.rows<wire::PhysicalCreateRecord>()[change.place.row];
      HeapMetrics& metrics = metrics_[made.heap];
      handle_times_.emplace(change.place.event, change.time_ns);
      metrics.allocated_bytes = clamped_sum(metrics.allocated_bytes, possible_size(made));
      ++metrics.allocations;
    }
    for (const PhysicalHandle& handle : change.ended) {
      const auto begin = handle_times_.extract(handle.event);
      if (begin.empty() || change.place.kind == wire::RecordKind::heap_gone) continue;
      note(metrics_[handle.heap].lifetimes, {handle.event, handle.size}, change.place.event, change.time_ns,
           begin.mapped());
    }
  }

  HighWater high_water(const HeapChange& change, std::uint64_t in_use) const {
    HighWater mark{change.position, std::nullopt, in_use};
    // State from before the first event has no time of its own.
    if (stream_.has_times()) mark.since_start_ns = change.position == 0 ? 0 : stream_.since_start_ns(change.time_ns);
    return mark;
  }

  struct Lifetime {
    std::uint64_t begin_event = 0, size = 0;
  };
  void note(LifetimeHistograms& histograms, const Lifetime& block, std::uint64_t end_event, std::int64_t end_ns,
            std::optional<std::int64_t> begin_ns) const {
    if (!begin_ns) {
      ++histograms.unknown_count;
      histograms.unknown_bytes = clamped_sum(histograms.unknown_bytes, block.size);
      return;
    }
    histograms.by_events.add(end_event - block.begin_event, block.size);
    if (histograms.by_ns) histograms.by_ns->add(elapsed(*begin_ns, end_ns), block.size);
  }

  void measure(std::uint32_t id, HeapMetrics& metrics) const {
    const HeapState& heap = state_.heap(id);
    const HeapInfo& info = stream_.definitions().heap(id);
    const auto requested =
        info.has(wire::heap_flag::has_requested) ? heap.known_requested_bytes() : std::optional<std::uint64_t>();
    // A source may report a request larger than its block: that is no waste.
    if (requested && !info.has(wire::heap_flag::sizes_are_requests))
      metrics.rounding_waste_bytes = heap.in_use_bytes - std::min(*requested, heap.in_use_bytes);
    metrics.fit = find_largest_fit(info, state_);
    if (heap.space.free_bytes()) {
      metrics.free_gaps.emplace();
      heap.space.for_each_chunk([&](const HeapChunk& chunk) {
        if (chunk.state == ChunkState::free) metrics.free_gaps->add(chunk.range.size(), chunk.range.size());
      });
    }
    const double bytes = static_cast<double>(metrics.allocated_bytes);
    if (stream_.has_times() && state_.position() > 0)
      if (const std::uint64_t ns = elapsed(stream_.first_time_ns(), state_.time_ns()); ns > 0)
        metrics.allocated_bytes_per_second = bytes / (static_cast<double>(ns) / 1e9);
    if (state_.position() > 0) metrics.allocated_bytes_per_event = bytes / static_cast<double>(state_.position());
    if (metrics.peak_so_far.in_use_bytes > 0)
      metrics.turnover = bytes / static_cast<double>(metrics.peak_so_far.in_use_bytes);
  }

  void measure(const LiveBlock& block, HeapMetrics& metrics) const {
    metrics.live_sizes.add(block.size, block.size);
    note(metrics.ages, {block.event, block.size}, state_.position(), state_.time_ns(), times_.find(block.event));
  }
  void measure(const PhysicalHandle& handle, HeapMetrics& metrics) const {
    metrics.live_sizes.add(handle.size, handle.size);
    const auto begin = handle_times_.find(handle.event);
    note(metrics.ages, {handle.event, handle.size}, state_.position(), state_.time_ns(),
         begin == handle_times_.end() ? std::nullopt : std::optional(begin->second));
  }

  const Stream& stream_;
  const StreamState& state_;
  AllocationTimes times_;
  std::unordered_map<std::uint64_t, std::int64_t> handle_times_;  // Creation times of live handles by allocation id.
  std::vector<HeapMetrics> metrics_;                              // By heap id.
};

}  // namespace

EndBounds find_end_bounds(const StreamState& state, std::uint32_t heap) {
  EndBounds bounds;
  for (const LiveBlock& block : state.slots()) {
    if (block.heap != heap || state.heap(heap).space.is_loose(block.place)) continue;
    if ((block.flags & wire::block_flag::upper_end) != 0)
      bounds.first_upper = std::min(bounds.first_upper, block.address);
    else
      bounds.last_lower = std::max(bounds.last_lower, block.address + block.size);
  }
  return bounds;
}

LargestFit find_largest_fit(const HeapInfo& info, const StreamState& state) {
  const HeapState& heap = state.heap(info.id);
  LargestFit fit;
  fit.bytes = heap.space.largest_free();
  if (!fit.bytes || !info.has(wire::heap_flag::has_two_ends)) return fit;
  const EndBounds bounds = find_end_bounds(state, info.id);
  fit.lower_end_bytes = fit.upper_end_bytes = 0;
  heap.space.for_each_chunk([&](const HeapChunk& chunk) {
    if (chunk.state != ChunkState::free) return;
    const std::uint64_t size = chunk.range.size();
    if (bounds.is_for_lower(chunk.range)) fit.lower_end_bytes = std::max(*fit.lower_end_bytes, size);
    if (bounds.is_for_upper(chunk.range)) fit.upper_end_bytes = std::max(*fit.upper_end_bytes, size);
  });
  return fit;
}

std::optional<std::vector<HeapMetrics>> compute_heap_metrics(const Trace& trace, const std::vector<StreamState>& states,
                                                             const MetricsOptions& options, PassControl* control) {
  if (control != nullptr)
    for (const Stream& stream : trace.streams) control->total_events += stream.end_position();
  std::vector<HeapMetrics> all;
  for (std::size_t i = 0; i < states.size(); ++i) {
    StreamMeter meter(trace.streams[i], states[i], options);
    if (!meter.run(control)) return std::nullopt;
    meter.append_to(all);
  }
  return all;
}

}  // namespace hbmscope
