#include "tests/fuzz/trace_questions.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "analysis/query/attached_facts.h"
#include "analysis/query/block_diff.h"
#include "analysis/query/device_requests.h"
#include "analysis/query/heap_metrics.h"
#include "analysis/query/heap_rows.h"
#include "analysis/query/job_facts.h"
#include "analysis/query/job_warnings.h"
#include "analysis/query/moment_comparison.h"
#include "analysis/query/pending_requests.h"
#include "analysis/query/reported_rows.h"
#include "analysis/trace/layers.h"
#include "analysis/trace/profile_from_trace.h"
#include "analysis/write/perfetto.h"
#include "analysis/write/strip_paths.h"
#include "analysis/write/time_axis.h"
#include "analysis/write/trace_table.h"
#include "tests/fuzz/fuzz_target.h"

namespace hbmscope {
namespace {

std::uint64_t bytes_of(const PowerHistogram& histogram) {
  std::uint64_t sum = 0;
  for (const PowerHistogram::Step& step : histogram.steps()) sum += step.bytes;
  return sum;
}

// Handles that are owned, of a heap.
std::uint64_t count_handles(const StreamState& state, std::uint32_t heap) {
  const auto handles = state.physical().handles();
  return static_cast<std::uint64_t>(std::count_if(handles.begin(), handles.end(), [&](const PhysicalHandle& handle) {
    return handle.is_live() && !handle.is_imported && handle.heap == heap;
  }));
}

// By row of a heap.
std::vector<std::uint64_t> count_handles(const Trace& trace, const std::vector<StreamState>& states) {
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 0; i < states.size(); ++i)
    for (const HeapInfo& heap : trace.streams[i].definitions().heaps())
      if (heap.id != 0) counts.push_back(count_handles(states[i], heap.id));
  return counts;
}

void check_metrics(const Trace& trace, const std::vector<StreamState>& states) {
  const std::vector<HeapRow> rows = compute_heap_rows(trace, states);
  const std::vector<HeapMetrics> metrics = *compute_heap_metrics(trace, states);
  require(rows.size() == metrics.size(), "one row of metrics a heap");
  const std::vector<std::uint64_t> handles = count_handles(trace, states);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const HeapMetrics& of_heap = metrics[i];
    const std::uint64_t live = rows[i].live_blocks + handles[i];
    require(bytes_of(of_heap.live_sizes) <= rows[i].in_use_bytes, "sizes of live blocks are in use");
    require(of_heap.live_sizes.count() == live, "live blocks and handles have sizes");
    require(of_heap.ages.by_events.count() + of_heap.ages.unknown_count == live,
            "live blocks and handles have an age or none");
    require(of_heap.free_gaps.has_value() == rows[i].free_bytes.has_value(), "gaps where free is told");
    if (of_heap.free_gaps) require(bytes_of(*of_heap.free_gaps) == rows[i].free_bytes, "gaps are what is free");
    require(of_heap.fit.bytes == rows[i].largest_free_bytes, "the largest fit is the largest free block");
    require(of_heap.peak_so_far.in_use_bytes <= rows[i].peak_in_use_bytes, "no peak above that of the whole");
    std::uint64_t last = 0;
    for (const HighWater& mark : of_heap.high_waters) {
      require(mark.in_use_bytes - last >= of_heap.high_water_step_bytes && mark.in_use_bytes > last,
              "each mark is a step higher");
      require(mark.in_use_bytes <= of_heap.peak_so_far.in_use_bytes, "no mark above the peak");
      last = mark.in_use_bytes;
    }
  }
}

void check_reported(const Trace& trace, const std::vector<StreamState>& states) {
  Moment moment;
  for (const StreamState& state : states) moment.positions.push_back(state.position());
  for (const CounterRow& row : compute_counter_rows(trace, moment)) {
    require(row.value.has_value() == (row.samples > 0), "a counter that was told has a value");
    require(!row.value || (row.least <= row.value && row.value <= row.most), "a value lies between its extremes");
  }
  for (const AttributeRow& row : compute_attribute_rows(trace, states))
    require(row.live_blocks <= row.count, "of each block that lives something was told");
  require(find_stream_axes(trace).size() == trace.streams.size(), "every stream has an axis");
}

void check_profile(const Trace& trace, const std::vector<StreamState>& states) {
  const auto profile = profile_from_trace(trace, states, ProfileValues::live_and_allocated);
  for (const auto& column : profile->values) {
    std::int64_t sum = 0;
    for (const std::int64_t value : column)
      require(value >= 0 && !__builtin_add_overflow(sum, value, &sum), "values that can be added up");
  }
}

void check_exports(const Trace& trace, const std::vector<StreamState>& states) {
  std::string text;
  const TextSink sink = [&text](std::string_view piece) {
    text += piece;
    return true;
  };
  require(write_perfetto(trace, states, {}, sink) == ExportEnd::whole, "Perfetto is written");
  require(nlohmann::json::accept(text), "Perfetto is JSON");
  text.clear();
  require(write_trace_csv(trace, states, TraceTable::events, sink) == ExportEnd::whole, "events are written");
  require(write_trace_csv(trace, states, TraceTable::blocks, sink) == ExportEnd::whole, "blocks are written");
  require(write_trace_json(trace, states, TraceTable::events, sink) == ExportEnd::whole, "events are written");
}

Trace copy_of(const Trace& trace) {
  Trace copy;
  copy.producer = trace.producer;
  copy.streams.resize(trace.streams.size());
  for (std::size_t i = 0; i < trace.streams.size(); ++i)
    for (const wire::SharedBlock& block : trace.streams[i].blocks())
      require(!copy.streams[i].append(block), "a block is taken in again");
  return copy;
}

// Blocks and handles of the heaps that count.
std::uint64_t count_live(const Trace& trace, const std::vector<StreamState>& states) {
  const auto counted = find_counted_heaps(trace);
  std::uint64_t live = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    for (const LiveBlock& block : states[i].slots()) live += block.is_live() && counted[i][block.heap] ? 1 : 0;
    for (std::uint32_t heap = 1; heap < counted[i].size(); ++heap)
      live += counted[i][heap] ? count_handles(states[i], heap) : 0;
  }
  return live;
}

void check_diff(const Trace& trace, const std::vector<StreamState>& before, const std::vector<StreamState>& after) {
  const std::uint64_t live_before = count_live(trace, before), live_after = count_live(trace, after);
  const Trace same = copy_of(trace);  // Another object, so that it is matched by stack and size.
  for (const Trace* other : {&trace, &same}) {
    const BlockChanges changes = compute_block_diff({trace, before}, {*other, after})->changes;
    const std::uint64_t both =
        changes.grown.count + changes.shrunk.count + changes.moved.count + changes.unchanged.count;
    require(both + changes.gone.count == live_before, "all blocks before are in the diff");
    require(both + changes.added.count == live_after, "all blocks after are in the diff");
  }
  require(compare_settings(trace, same).empty(), "a trace has the settings of its copy");
  for (const JobWarning& warning : find_job_warnings(trace))
    require(!text_from_warning(warning).empty() && warning.processes <= trace.streams.size(), "a warning has a text");
}

// The heaps of a stripped stream equal those of the stream.
void check_stripped(const Trace& trace) {
  for (const Stream& stream : trace.streams) {
    Stream again;
    const auto done = for_each_stripped_block(stream, nullptr, [&](const wire::SharedBlock& block) {
      require(!again.append(block), "a stripped block is taken in");
      return true;
    });
    if (!done) continue;                           // Records that this version does not know.
    again.note_written(stream.end_position(), 0);  // Blocks alone do not reveal a lost end.
    require(again.end_position() == stream.end_position() && again.counts().alloc == stream.counts().alloc,
            "a stripped stream has its events");
    for (const HeapInfo& heap : stream.definitions().heaps())
      require(again.last_state().heap(heap.id).in_use_bytes == stream.last_state().heap(heap.id).in_use_bytes,
              "a stripped stream has its heaps");
  }
}

void check_attached(const Trace& trace) {
  for (const AttachedFacts& facts : find_attached(trace))
    require(facts.stream < trace.streams.size() && !text_from_attached(facts).empty() &&
                text_from_driver_calls(facts).empty() == facts.driver_calls.empty(),
            "an attachment of no stream");
  for (const FailureRow& row : compute_pending_rows(trace))
    require(std::any_of(trace.streams.begin(), trace.streams.end(),
                        [&](const Stream& stream) { return row.event < stream.end_position(); }),
            "a request behind the end is pending");
}

// Each block is requested before it is freed, and freed once.
void check_requests(const Trace& trace) {
  const auto requests = find_device_requests(trace, std::nullopt);
  if (!requests) return;
  std::vector<bool> is_taken(requests->stream.slots);
  for (const allocator::Operation& operation : requests->stream.operations) {
    require(operation.slot < is_taken.size() && is_taken[operation.slot] == operation.is_free,
            "a slot is taken once at a time");
    is_taken[operation.slot] = !operation.is_free;
  }
  require(requests->places.addresses.size() == requests->stream.operations.size(), "a place for each operation");
}

// A time in a copy of the trace is the same time.
void check_moment_against(const Trace& trace) {
  const Trace same = copy_of(trace);
  for (std::uint32_t i = 0; i < trace.streams.size(); ++i) {
    const Stream& stream = trace.streams[i];
    if (stream.definitions().heaps().size() < 2) continue;
    const HeapKey heap{i, stream.definitions().heaps()[1].id};
    for (const SameMoment kind : {SameMoment::time, SameMoment::requests}) {
      const auto beside = find_matching_moment(trace, heap, stream.end_position() / 2, same, heap, kind);
      require(beside && beside->position <= stream.end_position(), "a moment behind the end");
    }
  }
}

}  // namespace

void ask_all_questions(const Trace& trace) {
  std::vector<StreamState> start, middle, end;
  for (const Stream& stream : trace.streams) {
    start.push_back(stream.state_at(0));
    middle.push_back(stream.state_at(stream.end_position() / 2));
    end.push_back(stream.state_at(stream.end_position()));
  }
  for (const auto& states : {start, middle, end}) {
    check_metrics(trace, states);
    check_profile(trace, states);
    check_reported(trace, states);
    check_exports(trace, states);
  }
  check_diff(trace, start, end);
  check_diff(trace, middle, end);
  check_stripped(trace);
  check_attached(trace);
  check_requests(trace);
  check_moment_against(trace);
}

}  // namespace hbmscope
