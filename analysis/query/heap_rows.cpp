#include "analysis/query/heap_rows.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <span>

#include <fmt/format.h>

#include "allocator/reference/interface/fragmentation.h"
#include "analysis/model/clamped.h"
#include "analysis/query/log_headline.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/trace/device_labels.h"
#include "analysis/trace/failure_details.h"
#include "analysis/trace/layers.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/trace/stream_names.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

// PyTorch rounds requests up to 512 bytes (c10/cuda/CUDACachingAllocator.cpp, kMinBlockSize), XLA's allocator up to 256
// (xla/tsl/framework/bfc_allocator.h, kMinAllocationSize).
constexpr std::uint64_t pytorch_granularity = 512, bfc_granularity = 256;
// A job that catches its failures may have a million; the heap's state is computed only for the last ones.
constexpr std::size_t failures_with_state = 256;

std::optional<std::uint32_t> device_of(const HeapInfo& heap) {
  return heap.device == wire::no_device ? std::nullopt : std::optional(heap.device);
}

std::string find_own_line(const Definitions& definitions, std::uint32_t stack) {
  const auto frame = find_own_frame(definitions, stack);
  if (!frame) return {};
  return fmt::format("{} {}:{}", definitions.text(frame->function), definitions.text(frame->file), frame->line);
}

void add(std::optional<std::uint64_t>& sum, std::optional<std::uint64_t> bytes) {
  if (bytes) sum = sum.value_or(0) + *bytes;
}

// Uses reported figures where the heap itself has none.
void take_reported_figures(const Stream& stream, const FailureEvent& failure, FailureRow& row) {
  const auto reported = [&](std::string_view name) { return find_reported(stream, name, failure.heap, failure.event); };
  // A heap without reported blocks is not empty: its contents are unknown.
  const bool is_unreported = !stream.definitions().heap(failure.heap).has(wire::heap_flag::has_addresses) &&
                             stream.peak(failure.heap).in_use_bytes == 0;
  if (is_unreported) row.used_bytes.reset();
  if (const auto used = reported(reported_figure::used)) row.used_bytes = used;
  if (!row.total_free_bytes) row.total_free_bytes = reported(reported_figure::free);
  if (!row.largest_free_bytes) row.largest_free_bytes = reported(reported_figure::largest_free);
  if (!row.limit_bytes) row.limit_bytes = find_limit_bytes(stream, failure.heap, failure.event);
  if (!row.pool_bytes) row.pool_bytes = reported(reported_figure::pool);
}

// What a log says about the failure beyond its figures.
void take_details(const Stream& stream, const FailureEvent& failure, FailureRow& row) {
  if (stream.attributes().size() == 0) return;
  const Definitions& definitions = stream.definitions();
  for (const Attribute& attribute : stream.attributes().find(failure.event)) {
    const std::string key(definitions.text(attribute.key)), value(definitions.text(attribute.value));
    if (key == failure_detail::line)
      row.line = std::strtoull(value.c_str(), nullptr, 10);
    else if (key == failure_detail::allocator)
      row.allocator = value;
    else
      row.details.emplace_back(key, value);
  }
}

// In a dry run on a TPU the compiler's refusal is recorded like a request of its heap. Its words say what it is:
// "E1000: CompileTimeHbmOom: Ran out of memory on HBM, ... HLO module: jit_step."
void take_stage(FailureRow& row) {
  constexpr std::string_view before_program = "HLO module: ";
  if (row.reason.find("CompileTime") == std::string::npos || !row.detail(failure_detail::stage).empty()) return;
  row.details.emplace_back(failure_detail::stage, failure_detail::compiler);
  const std::size_t at = row.reason.find(before_program);
  if (at == std::string::npos) return;
  const std::size_t begin = at + before_program.size();
  row.details.emplace_back(failure_detail::program,
                           row.reason.substr(begin, row.reason.find_first_of(". \n", begin) - begin));
}

// For a source that reports what a heap holds, but none of its blocks.
void take_reported_use(const Stream& stream, std::uint32_t heap, std::uint64_t position, HeapRow& row) {
  const auto reported = [&](std::string_view name) { return find_reported(stream, name, heap, position); };
  const auto used = reported(reported_figure::used);
  row.is_in_use_unknown = !used.has_value();
  row.in_use_bytes = used.value_or(0);
  row.peak_in_use_bytes = std::max(row.peak_in_use_bytes, row.in_use_bytes);
  row.free_bytes = reported(reported_figure::free);
  row.largest_free_bytes = reported(reported_figure::largest_free);
}

// For a source that reports the size of the pool, but not its regions.
void take_reported_pool(const Stream& stream, std::uint32_t heap, std::uint64_t position, HeapRow& row) {
  row.pool_bytes = find_reported(stream, reported_figure::pool, heap, position);
  if (row.free_bytes || row.is_in_use_unknown) return;
  if (row.pool_bytes && *row.pool_bytes >= row.in_use_bytes) row.free_bytes = *row.pool_bytes - row.in_use_bytes;
}

// Adds the heaps of one stream.
void find_what_pools_leave(std::span<HeapRow> rows) {
  for (HeapRow& row : rows) {
    if (row.layer != text_from_layer(wire::Layer::physical)) continue;
    std::optional<std::uint64_t> of_pools;
    for (const HeapRow& other : rows)
      if (other.is_inside_of_driver && other.device == row.device &&
          is_host_kind(other.memory_kind) == is_host_kind(row.memory_kind))
        of_pools = clamped_sum(of_pools.value_or(0), other.pool_bytes.value_or(0));
    if (of_pools) row.outside_pools_bytes = row.in_use_bytes - std::min(row.in_use_bytes, *of_pools);
  }
}

// The block size that the allocator would have used for the failed request, as reported or by its rule; nothing if
// neither is known.
std::optional<std::uint64_t> find_rounded_request(const Stream& stream, const FailureEvent& failure) {
  if (const auto reported = find_reported(stream, reported_figure::rounded_request, failure.heap, failure.event))
    return reported;
  const std::uint64_t requested = failure.requested_bytes;
  const std::string_view heap = stream.definitions().heap(failure.heap).name;
  const bool is_pytorch = stream.definitions().job_fact("framework") == "pytorch" || heap.ends_with("PyTorch pool");
  if (!is_pytorch && !heap.ends_with("_bfc")) return std::nullopt;
  const std::uint64_t granularity = is_pytorch ? pytorch_granularity : bfc_granularity;
  if (requested == 0 || requested >= ~std::uint64_t{0} - granularity) return std::nullopt;
  return (requested + granularity - 1) / granularity * granularity;
}

}  // namespace

std::string text_from_request(std::uint64_t requested_bytes) {
  return requested_bytes == 0 ? "an unknown size" : text_from_bytes(requested_bytes);
}

std::optional<std::uint64_t> find_reported(const Stream& stream, std::string_view name, std::uint32_t heap,
                                           std::uint64_t position) {
  for (const auto& [key, series] : stream.counters().series()) {
    if (key.second != heap || stream.definitions().text(key.first) != name) continue;
    const auto sample = series.at(position);
    if (sample && sample->value >= 0) return static_cast<std::uint64_t>(sample->value);
  }
  return std::nullopt;
}

namespace {

std::optional<std::uint64_t> find_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number ? std::optional(number) : std::nullopt;
}

// What was reported, or the fact; 0 is no size of a pool or a device.
std::optional<std::uint64_t> not_zero(std::optional<std::uint64_t> reported, std::string_view fact) {
  const auto found = reported ? reported : find_number(fact);
  return found.value_or(0) > 0 ? found : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> find_limit_bytes(const Stream& stream, std::uint32_t heap, std::uint64_t position) {
  return not_zero(find_reported(stream, reported_figure::limit, heap, position),
                  stream.definitions().job_fact(reported_figure::replayed_limit));
}

std::optional<std::uint64_t> find_device_bytes(const Stream& stream, std::uint32_t heap, std::uint64_t position) {
  return not_zero(find_reported(stream, reported_figure::device, heap, position),
                  stream.definitions().job_fact(reported_figure::replayed_device));
}

std::optional<std::uint64_t> find_dry_run_margin(const Stream& stream, std::uint32_t device) {
  const std::string_view fact = stream.definitions().job_fact(fmt::format("{}{}", dry_run_margin_fact, device));
  std::uint64_t bytes = 0;
  const bool is_number = std::from_chars(fact.data(), fact.data() + fact.size(), bytes).ec == std::errc();
  return is_number ? std::optional(bytes) : std::nullopt;
}

std::vector<HeapRow> compute_heap_rows(const Trace& trace, const std::vector<StreamState>& states) {
  std::vector<HeapRow> rows;
  const auto labels = find_heap_labels(trace, HeapLabels::streams);
  const auto device_names = find_device_names(trace);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const std::size_t first = rows.size();
    for (const HeapInfo& info : trace.streams[i].definitions().heaps()) {
      if (info.id == 0) continue;
      const HeapState& heap = states[i].heap(info.id);
      HeapRow& row = rows.emplace_back();
      row.name = info.name;
      row.label = labels[i][info.id];
      if (!trace.stream_files.empty()) row.file = trace.stream_files[i];
      row.stream = i;
      row.heap = info.id;
      row.rank = rank_of_stream(trace, i);
      row.memory_kind = info.memory_kind;
      row.layer = text_from_layer(info.layer);
      row.is_inside_of_driver = info.has(wire::heap_flag::is_inside_of_driver);
      row.device = device_of(info);
      row.uuid = info.uuid;
      row.device_name = device_names[i][info.id];
      row.in_use_bytes = states[i].in_use_bytes(info.id);
      if (info.has(wire::heap_flag::has_requested)) row.requested_bytes = heap.known_requested_bytes();
      // A handle has exactly the requested size.
      if (row.requested_bytes) *row.requested_bytes += row.in_use_bytes - heap.in_use_bytes;
      row.pending_bytes = heap.pending_bytes;
      row.pool_bytes = heap.space.region_bytes();
      row.free_bytes = heap.space.free_bytes();
      row.largest_free_bytes = heap.space.largest_free();
      row.driver_pools = find_driver_pools(trace.streams[i], info.id, states[i].position());
      if (is_of_log(trace) && heap.live_blocks == 0)
        take_reported_use(trace.streams[i], info.id, states[i].position(), row);
      if (!row.pool_bytes) take_reported_pool(trace.streams[i], info.id, states[i].position(), row);
      row.external_fragmentation = external_fragmentation(heap);
      if (row.requested_bytes && !info.has(wire::heap_flag::sizes_are_requests))
        row.internal_fragmentation = internal_fragmentation_of(row.in_use_bytes, *row.requested_bytes);
      const HeapPeak peak = trace.streams[i].peak(info.id);
      row.peak_in_use_bytes = std::max(row.peak_in_use_bytes, peak.in_use_bytes);
      row.is_peak_inexact = peak.is_inexact;
      row.is_peak_minimum = peak.is_minimum;
      row.live_blocks = heap.live_blocks;
      const PhysicalBytes physical = states[i].physical().heap(info.id);
      if (physical.has_any()) row.physical = physical;
      row.is_inexact = states[i].is_inexact(info.id);
      if (row.is_inexact && trace.streams[i].has_times())
        row.inexact_since_start_ns = std::max(
            std::int64_t{0}, clamped_difference(states[i].inexact_since_ns(info.id), trace.streams[i].zero_ns()));
    }
    find_what_pools_leave(std::span(rows).subspan(first));
  }
  return rows;
}

EventCounts compute_event_counts(const Trace& trace) {
  EventCounts sum;
  for (const Stream& stream : trace.streams) sum += stream.counts();
  return sum;
}

FailureRow row_from_failure(const Stream& stream, const FailureEvent& failure, const StreamState* state) {
  const Definitions& definitions = stream.definitions();
  FailureRow row;
  row.event = failure.event;
  if (stream.has_times() && failure.time_ns >= stream.first_time_ns())
    row.since_start_ns = stream.since_start_ns(failure.time_ns);
  row.requested_bytes = failure.requested_bytes;
  row.available_bytes = failure.available_bytes;
  row.reason = definitions.text(failure.reason);
  row.is_of_driver = failure.is_refusal;
  row.own_line = find_own_line(definitions, failure.stack);
  row.allocator = definitions.job_fact("framework");
  row.rounded_bytes = find_rounded_request(stream, failure);
  take_details(stream, failure, row);
  take_stage(row);
  const HeapInfo& requested = definitions.heap(failure.heap);
  if (requested.id == 0) return row;
  row.memory_space = requested.memory_kind;
  row.device = device_of(requested);
  if (state == nullptr) return row;
  // A log tells of one allocator at a time, so the others' figures are of another moment.
  const bool is_alone = row.line.has_value();
  for (const HeapInfo& heap : definitions.heaps()) {
    if (is_alone && heap.id != requested.id) continue;
    if (heap.id == 0 || heap.device != requested.device || heap.layer != requested.layer ||
        heap.memory_kind != requested.memory_kind)
      continue;
    const HeapState& then = state->heap(heap.id);
    row.is_inexact |= state->is_inexact(heap.id);
    add(row.used_bytes, state->in_use_bytes(heap.id));
    add(row.total_free_bytes, then.space.free_bytes());
    add(row.pool_bytes, then.space.region_bytes());
    if (const auto largest = then.space.largest_free())
      row.largest_free_bytes = std::max(row.largest_free_bytes.value_or(0), *largest);
  }
  take_reported_figures(stream, failure, row);
  return row;
}

std::vector<FailureRow> compute_failure_rows(const Trace& trace) {
  std::vector<FailureRow> rows;
  for (const Stream& stream : trace.streams) {
    const SharedLog<FailureEvent>& failures = stream.failures();
    StreamState state;
    for (std::size_t i = 0; i < failures.size(); ++i) {  // Ascending, so that one walk is enough for all.
      if (!failures[i].is_out_of_memory) continue;
      const bool has_state = i + failures_with_state >= failures.size();
      if (has_state) stream.advance(state, failures[i].event);
      rows.push_back(row_from_failure(stream, failures[i], has_state ? &state : nullptr));
    }
  }
  return rows;
}

std::string_view FailureRow::detail(std::string_view key) const {
  const auto found = std::find_if(details.begin(), details.end(), [&](const auto& one) { return one.first == key; });
  return found == details.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace hbmscope
