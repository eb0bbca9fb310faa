#include "analysis/read/torch/trace_from_torch.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/read/torch/blocks_by_place.h"
#include "analysis/read/torch/conversion_report.h"
#include "analysis/read/torch/stack_writer.h"
#include "analysis/read/torch/torch_history.h"
#include "analysis/read/torch/torch_runs.h"
#include "analysis/trace/stream_names.h"
#include "analysis/trace/trace_writer.h"

namespace hbmscope {
namespace {

constexpr std::int64_t ns_per_us = 1000;
// The year 2116. Sums and differences of times up to this one fit 64 bits in nanoseconds.
constexpr std::int64_t latest_time_us = std::numeric_limits<std::int64_t>::max() / 2 / ns_per_us;
constexpr std::size_t heaps_max = 4096;  // Further private pools count as part of their device's own pool.
constexpr std::string_view machinery =
    "torch::unwind::.*|torch::CapturedTraceback::.*|torch::cuda::.*gather_with_cpp.*|"
    "c10::cuda::CUDACachingAllocator::.*";

std::uint64_t bytes_or_unknown(std::int64_t bytes) {
  return bytes < 0 ? wire::unknown_bytes : static_cast<std::uint64_t>(bytes);
}

bool is_possible_time(std::int64_t time_us) {
  return time_us >= 0 && time_us <= latest_time_us;
}

// Heaps of `contradicting` devices are inexact from the start, and are listed again at the end.
class TorchConverter {
 public:
  TorchConverter(const TorchSnapshot& snapshot, const std::set<std::int32_t>& contradicting)
      : snapshot_(snapshot),
        contradicting_devices_(contradicting),
        out_({snapshot.file, "torch", "PyTorch memory snapshot", "pytorch", snapshot.file_bytes}) {
    // The functions that record stacks and allocate memory are in every C++ stack and say nothing about the program.
    trace_.drop_frames = std::string(machinery);
    trace_.import = snapshot.import;
    heap_of_segment_.resize(snapshot.segments.size());
    heap_names_.emplace_back();  // Heaps count from 1.
  }

  void write() {
    write_job();
    find_devices();
    time_ns_ = find_first_time_ns();
    out_.note_realtime(time_ns_, time_ns_);
    for (Device& device : devices_) write_beginning(device);
    write_entries();
  }

  // The devices whose entries don't lead to the state that the snapshot lists.
  std::set<std::int32_t> compare_with_the_end() {
    std::set<std::int32_t> found;
    for_each_difference([&](std::int32_t device, std::uint32_t heap, const auto& reported, const auto& listed) {
      found.insert(device);
      add_end_contradicts_snapshot(heap_names_[heap], reported, listed, trace_.import);
    });
    return found;
  }

  Trace finish() {
    if (!contradicting_devices_.empty()) list_the_tables();
    out_.close();
    report();
    return std::move(trace_);
  }

 private:
  struct Device {
    TorchTrace empty;  // For devices with segments but without a trace.
    std::vector<TorchDeviceRun> runs;
    std::size_t run = 0;                       // The one that is being written.
    std::optional<std::int64_t> gap_since_ns;  // Entries are missing since then; its heaps are to be listed again.
    std::uint32_t main_heap = 0;
    std::int64_t time_us = absent_time;                            // The time of the last entry with one.
    std::size_t next = 0, next_out_of_memory = 0, next_other = 0;  // The next ones to write, in the run.

    std::int32_t number() const { return empty.device; }
    const TorchTrace& trace() const { return *runs[run].trace; }
    const TorchHistory& history() const { return runs[run].history; }
  };

  void write_job() {
    writer_.add_job_fact("hbmscope.drop_frames", trace_.drop_frames);
    for (const TorchSetting& setting : snapshot_.settings)
      writer_.add_job_fact(fmt::format("torch.allocator.{}", snapshot_.text(setting.key)),
                           snapshot_.text(setting.value));
  }

  void find_devices() {
    auto runs = compute_torch_runs(snapshot_);
    devices_.reserve(runs.size());
    for (auto& [number, of_device] : runs) {
      Device& device = devices_.emplace_back();
      device.empty.device = number;
      device.runs = std::move(of_device);
      if (device.runs.size() > 1) devices_with_gaps_.insert(number);
      for (TorchDeviceRun& run : device.runs) {
        if (run.trace == nullptr) run.trace = &device.empty;
        for (const auto& [pool, bytes] : run.history.peak_excess_bytes_max)
          if (bytes > 0) uncertain_peaks_.emplace(number, pool.first, pool.second);
      }
      device.main_heap = heap_of_pool(number, 0, 0);
      for (const TorchDeviceRun& run : device.runs)
        for (const std::uint32_t i : run.segments)
          heap_of_segment_[i] =
              heap_of_pool(number, snapshot_.segments.pool_first[i], snapshot_.segments.pool_second[i]);
    }
  }

  std::uint32_t heap_of_pool(std::int32_t device, std::uint64_t first, std::uint64_t second) {
    const bool is_private = first != 0 || second != 0;
    const auto known = heaps_.find({device, first, second});
    if (known != heaps_.end()) return known->second;
    if (is_private && heaps_.size() >= heaps_max) {
      counts_.has_merged_pools = true;
      return heap_of_pool(device, 0, 0);
    }
    wire::HeapRecord heap;
    heap.device = device < 0 ? wire::no_device : static_cast<std::uint32_t>(device);
    heap.layer = static_cast<std::uint8_t>(wire::Layer::pool);
    heap.flags = wire::heap_flag::has_regions | wire::heap_flag::has_requested | wire::heap_flag::has_addresses |
                 wire::heap_flag::is_complete_at_start;
    if (contradicting_devices_.contains(device)) heap.flags |= wire::heap_flag::contradicts_itself;
    if (uncertain_peaks_.contains({device, first, second}) || devices_with_gaps_.contains(device))
      heap.flags |= wire::heap_flag::peak_is_minimum;
    std::string name = fmt::format("GPU {}", device);
    if (is_private) name += fmt::format("{}({}, {})", private_pool_words, first, second);
    heap_names_.push_back(name);
    return heaps_[{device, first, second}] = writer_.define_heap(heap, name, "device");
  }

  std::uint32_t heap_of_segment(const Device& device, std::uint32_t segment) const {
    return segment == TorchHistory::no_segment ? device.main_heap : heap_of_segment_[segment];
  }
  std::uint32_t heap_of_entry(const Device& device, std::size_t entry) {
    return heap_of(device, device.history().entry_segment[entry], device.trace().pool[entry]);
  }
  // The pool of its segment; if the segment is gone at the end, the recorded pool.
  std::uint32_t heap_of(const Device& device, std::uint32_t segment, const TorchPoolId& pool) {
    if (pool.is_reported && segment == TorchHistory::no_segment)
      return heap_of_pool(device.number(), pool.first, pool.second);
    return heap_of_segment(device, segment);
  }

  std::uint32_t stack_from(TorchStackId id) { return stacks_.stack_from(id); }

  // Converts cudaStream_t handles to small numbers, in order of appearance; 0 stays the default stream.
  std::uint32_t stream_from(std::int64_t handle) {
    if (handle == 0) return 0;
    return streams_.try_emplace(handle, static_cast<std::uint32_t>(streams_.size() + 1)).first->second;
  }

  void write_beginning(Device& device) {
    for (const TorchInitialRegion& region : device.history().regions)
      writer_.add(record_from(device, region), time_ns_);
    for (const TorchInitialBlock& block : device.history().blocks) writer_.live(record_from(device, block));
  }

  wire::RegionLiveRecord record_from(const Device& device, const TorchInitialRegion& region) {
    wire::RegionLiveRecord record;
    record.address = region.range.begin;
    record.size = region.range.size();
    record.heap = heap_of(device, region.segment, region.pool);
    record.flags = region.is_expandable ? wire::region_flag::joins_neighbours : 0;
    return record;
  }

  wire::LiveRecord record_from(const Device& device, const TorchInitialBlock& block) {
    wire::LiveRecord record;
    record.address = block.address;
    record.size = block.size_bytes;
    record.requested = bytes_or_unknown(block.requested_bytes);
    record.heap = heap_of(device, block.segment, block.pool);
    record.stack = stack_from(block.stack);
    record.stream = stream_from(block.stream);
    record.tag = writer_.define_string(snapshot_.text(block.user_metadata));
    record.flags = (block.is_pending ? wire::block_flag::is_pending : 0) |
                   (block.is_size_derived ? wire::block_flag::is_size_derived : 0);
    return record;
  }

  // Entries are missing: each heap of the device is listed again as the next run begins with it. A block that was there
  // before the gap, with the same address, size and stack, is taken for the same allocation, as in list_the_tables().
  void cross_gap(const Device& device, std::int64_t since_ns) {
    std::map<std::uint32_t, std::vector<wire::RegionLiveRecord>> regions;
    std::map<std::uint32_t, std::vector<wire::LiveRecord>> blocks;
    writer_.flush();
    const torch::BlocksByPlace before(out_.stream());
    for (const TorchInitialRegion& each : device.history().regions) {
      const wire::RegionLiveRecord record = record_from(device, each);
      regions[record.heap].push_back(record);
    }
    for (const TorchInitialBlock& each : device.history().blocks) {
      wire::LiveRecord record = record_from(device, each);
      before.keep_event(record);
      blocks[record.heap].push_back(record);
    }
    for (const auto& [pool, heap] : std::map(heaps_)) {
      if (std::get<0>(pool) != device.number()) continue;
      writer_.note_loss(0, since_ns, time_ns_, heap);
      writer_.list_heap(heap, regions[heap], blocks[heap], time_ns_);
    }
  }

  // Entries before the first one with a time are assigned that time. 0 if no entry has a time.
  std::int64_t find_first_time_ns() const {
    std::int64_t first_us = latest_time_us + 1;
    const auto look_at = [&](const auto& rows, const auto& time_of) {
      const auto found =
          std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return is_possible_time(time_of(row)); });
      if (found != rows.end()) first_us = std::min(first_us, time_of(*found));
    };
    for (const Device& device : devices_) look_at(device.trace().time_us, [](std::int64_t time_us) { return time_us; });
    look_at(snapshot_.annotations, [](const TorchAnnotation& annotation) { return annotation.time_us; });
    return first_us > latest_time_us ? 0 : first_us * ns_per_us;
  }

  // False if there is none.
  bool begin_next_run(Device& device) const {
    if (device.run + 1 == device.runs.size() || device.runs[device.run + 1].trace->size() == 0) return false;
    ++device.run;
    device.next = device.next_out_of_memory = device.next_other = 0;
    device.gap_since_ns = time_ns_;
    return true;
  }

  // Each device's entries stay in order; devices are merged by time. In files without times (the oldest schema) the
  // devices follow one another. An entry without a time follows its device's previous entry.
  void write_entries() {
    using Next = std::pair<std::int64_t, std::size_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      Device& device = devices_[i];
      if (device.trace().size() == 0) continue;
      device.time_us = known_time(device.trace().time_us.front(), device.time_us);
      queue.emplace(device.time_us, i);
    }
    const auto& annotations = snapshot_.annotations;
    std::size_t annotation = 0;
    while (!queue.empty()) {
      const std::size_t number = queue.top().second;
      queue.pop();
      Device& device = devices_[number];
      while (true) {
        for (; annotation < annotations.size(); ++annotation) {
          const std::int64_t annotation_us = annotations[annotation].time_us;
          if (is_possible_time(annotation_us) && annotation_us > device.time_us) break;
          write_annotation(annotations[annotation]);
        }
        if (is_possible_time(device.time_us)) time_ns_ = device.time_us * ns_per_us;
        if (device.gap_since_ns) cross_gap(device, *std::exchange(device.gap_since_ns, std::nullopt));
        write_entry(device, device.next++, time_ns_);
        if (device.next == device.trace().size() && !begin_next_run(device)) break;
        device.time_us = known_time(device.trace().time_us[device.next], device.time_us);
        if (queue.empty() || Next(device.time_us, number) < queue.top()) continue;
        queue.emplace(device.time_us, number);
        break;
      }
    }
    for (; annotation < annotations.size(); ++annotation) write_annotation(annotations[annotation]);
  }

  std::int64_t known_time(std::int64_t time_us, std::int64_t otherwise_us) {
    if (is_possible_time(time_us)) {
      if (is_possible_time(otherwise_us) && time_us < otherwise_us) ++counts_.late_entries;
      return time_us;
    }
    counts_.impossible_times += time_us == absent_time ? 0 : 1;
    return otherwise_us;
  }

  void write_annotation(const TorchAnnotation& annotation) {
    wire::MarkerRecord record;
    record.name = writer_.define_string(snapshot_.text(annotation.name));
    record.device = static_cast<std::uint32_t>(annotation.device);
    const std::string_view stage = snapshot_.text(annotation.stage);
    record.phase = stage == "START" ? 1 : stage == "END" ? 2 : 0;
    const std::int64_t time_us = known_time(annotation.time_us, absent_time);
    if (time_us != absent_time) time_ns_ = time_us * ns_per_us;
    writer_.add(record, time_ns_);
  }

  void write_entry(Device& device, std::size_t entry, std::int64_t time) {
    const TorchTrace& trace = device.trace();
    const std::uint64_t address = trace.address[entry];
    const std::uint32_t stack = stack_from(trace.stack[entry]);
    if (const std::size_t later = entry + 8; later < trace.size()) {
      writer_.expect(heap_of_entry(device, later), trace.address[later]);
      stacks_.expect(trace.stack[later]);
    }
    switch (trace.action[entry]) {
      case TorchAction::alloc: write_alloc(device, entry, stack, time); break;
      case TorchAction::free_requested:
        writer_.free_requested(heap_of_entry(device, entry), address, bytes_or_0(trace.size_bytes[entry]), stack, time);
        break;
      case TorchAction::free:
      case TorchAction::free_completed:
        writer_.free(heap_of_entry(device, entry), address, bytes_or_0(trace.size_bytes[entry]), stack, time);
        break;
      case TorchAction::segment_alloc: write_region<wire::RegionGrowRecord>(device, entry, stack, time, 0); break;
      case TorchAction::segment_map:
        write_region<wire::RegionGrowRecord>(device, entry, stack, time, wire::region_flag::joins_neighbours);
        break;
      case TorchAction::segment_free:
      case TorchAction::segment_unmap: write_region<wire::RegionShrinkRecord>(device, entry, stack, time, 0); break;
      case TorchAction::oom: write_out_of_memory(device, entry, stack, time); break;
      case TorchAction::snapshot:
      case TorchAction::unknown: write_mark(device, entry, time); break;
    }
  }

  void write_alloc(Device& device, std::size_t entry, std::uint32_t stack, std::int64_t time) {
    const TorchTrace& trace = device.trace();
    wire::AllocRecord record;
    record.address = trace.address[entry];
    record.size = device.history().entry_size_bytes[entry];
    record.requested = bytes_or_unknown(trace.size_bytes[entry]);
    record.heap = heap_of_entry(device, entry);
    record.stack = stack;
    record.stream = stream_from(trace.stream[entry]);
    record.tag = writer_.define_string(snapshot_.text(trace.user_metadata[entry]));
    record.flags = device.history().is_entry_size_derived[entry] != 0 ? wire::block_flag::is_size_derived : 0;
    writer_.alloc(record, time);
  }

  template <class Record>
  void write_region(Device& device, std::size_t entry, std::uint32_t stack, std::int64_t time, std::uint32_t flags) {
    Record record;
    record.address = device.trace().address[entry];
    record.size = bytes_or_0(device.trace().size_bytes[entry]);
    record.heap = heap_of_entry(device, entry);
    record.stack = stack;
    if constexpr (Record::kind == wire::RecordKind::region_grow) record.flags = flags;
    writer_.add(record, time);
  }

  // For rows that exist only for some entries, in entry order; `next` advances with the entries.
  template <class Row>
  static const Row* next_of_entry(const std::vector<Row>& rows, std::size_t& next, std::size_t entry) {
    while (next < rows.size() && rows[next].entry < entry) ++next;
    return next < rows.size() && rows[next].entry == entry ? &rows[next] : nullptr;
  }

  void write_out_of_memory(Device& device, std::size_t entry, std::uint32_t stack, std::int64_t time) {
    wire::OutOfMemoryRecord record;
    record.requested = bytes_or_0(device.trace().size_bytes[entry]);
    record.available = wire::unknown_bytes;
    if (const auto* reported = next_of_entry(device.trace().out_of_memory, device.next_out_of_memory, entry))
      record.available = bytes_or_unknown(reported->device_free_bytes);
    record.heap = device.main_heap;
    record.stack = stack;
    writer_.add(record, time);
  }

  void write_mark(Device& device, std::size_t entry, std::int64_t time) {
    wire::MarkerRecord record;
    std::string_view name = "snapshot";
    if (const auto* other = next_of_entry(device.trace().other_actions, device.next_other, entry))
      name = snapshot_.text(other->action);
    record.name = writer_.define_string(name);
    record.device = static_cast<std::uint32_t>(device.trace().device);
    writer_.add(record, time);
  }

  void report() {
    ConversionCounts counts = counts_;
    for (const Device& device : devices_) {
      counts.blocks_before += device.runs.front().history.blocks.size();
      for (const TorchDeviceRun& run : device.runs) add_history(run.history, counts);
    }
    for (const TorchSetting& setting : snapshot_.settings)
      if (snapshot_.text(setting.key) == "trace_alloc_overflowed" && snapshot_.text(setting.value) == "True")
        counts.has_history_overflowed = true;
    add_statistics(counts, trace_.import);
  }

  // Sums over everything written so far, by heap.
  std::vector<TorchTableSum> sum_up_trace() {
    writer_.flush();
    std::vector<TorchTableSum> sums(heap_names_.size());
    const StreamState& last = out_.stream().last_state();
    for (std::uint32_t heap = 1; heap < sums.size(); ++heap) {
      const HeapState& state = last.heap(heap);
      sums[heap] = {state.live_blocks, state.in_use_bytes, state.space.region_bytes().value_or(0)};
    }
    for (const LiveBlock& block : last.slots())
      if (block.is_live()) sums[block.heap].add_place(block.address, block.size);
    return sums;
  }

  // Visits the heaps in which the entries so far don't add up to the tables: device, heap, and both sums.
  template <class Visit>
  void for_each_difference(const Visit& visit) {
    const std::vector<TorchTableSum> reported = sum_up_trace();
    const auto listed = sum_up_tables(snapshot_, heap_of_segment_, heap_names_.size());
    for (const auto& [pool, heap] : heaps_)
      if (reported[heap] != listed[heap]) visit(std::get<0>(pool), heap, reported[heap], listed[heap]);
  }

  // Writes the allocator's own tables from the snapshot: if the entries lead to another state, the tables are right. A
  // mark precedes them, so that the time after the last entry stays as the entries have it.
  void list_the_tables() {
    wire::MarkerRecord mark;
    mark.name = writer_.define_string("what the snapshot lists");
    writer_.add(mark, time_ns_);
    writer_.flush();
    const torch::BlocksByPlace reported(out_.stream());
    std::vector<wire::RegionLiveRecord> regions;
    std::vector<wire::LiveRecord> blocks;
    const TorchSegments& segments = snapshot_.segments;
    for (std::uint32_t segment = 0; segment < snapshot_.segments_at_end(); ++segment) {
      wire::RegionLiveRecord& region = regions.emplace_back();
      region.address = segments.address[segment];
      region.size = bytes_or_0(segments.total_bytes[segment]);
      region.heap = heap_of_segment_[segment];
      region.flags = segments.is_expandable[segment] != 0 ? wire::region_flag::joins_neighbours : 0;
      for (std::uint32_t i = segments.block_begin[segment]; i < segments.block_begin[segment + 1]; ++i) {
        if (!snapshot_.blocks.is_active(i)) continue;
        reported.keep_event(blocks.emplace_back(listed_block(segment, i)));
      }
    }
    constexpr std::uint32_t all_heaps = 0;
    writer_.list_heap(all_heaps, regions, blocks, time_ns_);
    compare_with_the_listing();
  }

  // Inconsistent tables can't be listed: overlapping blocks or segments, sizes that no device has.
  void compare_with_the_listing() {
    for_each_difference([&](std::int32_t, std::uint32_t heap, const auto& reported, const auto& listed) {
      writer_.note_loss(0, time_ns_, time_ns_, heap);
      add_tables_contradict_themselves(heap_names_[heap], reported, listed, trace_.import);
    });
  }

  wire::LiveRecord listed_block(std::uint32_t segment, std::uint32_t block) {
    const TorchBlocks& blocks = snapshot_.blocks;
    wire::LiveRecord record;
    record.address = blocks.address[block];
    record.size = bytes_or_0(blocks.size_bytes[block]);
    record.requested = bytes_or_unknown(blocks.requested_bytes[block]);
    record.heap = heap_of_segment_[segment];
    record.stack = stack_from(blocks.stack[block]);
    record.stream = stream_from(snapshot_.segments.stream[segment]);
    record.tag = writer_.define_string(snapshot_.text(blocks.user_metadata[block]));
    record.flags = blocks.state[block] == TorchBlockState::active_pending_free ? wire::block_flag::is_pending : 0;
    return record;
  }

  const TorchSnapshot& snapshot_;
  const std::set<std::int32_t>& contradicting_devices_;
  TraceWriter out_;
  Trace& trace_ = out_.trace();
  wire::StreamWriter& writer_ = out_.events();
  torch::StackWriter stacks_{snapshot_, writer_};
  std::vector<Device> devices_;
  std::map<std::tuple<std::int32_t, std::uint64_t, std::uint64_t>, std::uint32_t> heaps_;
  std::set<std::tuple<std::int32_t, std::uint64_t, std::uint64_t>> uncertain_peaks_;  // As above.
  std::set<std::int32_t> devices_with_gaps_;    // What happened in a gap may have been their peak.
  std::vector<std::uint32_t> heap_of_segment_;  // By segment of the snapshot.
  std::vector<std::string> heap_names_;         // By heap.
  std::unordered_map<std::int64_t, std::uint32_t> streams_;
  std::int64_t time_ns_ = 0;  // The last written event.
  ConversionCounts counts_;   // Counts for the written trace.
};

}  // namespace

Trace trace_from_torch(const TorchSnapshot& snapshot) {
  std::set<std::int32_t> contradicting;
  {
    TorchConverter converter(snapshot, contradicting);
    converter.write();
    contradicting = converter.compare_with_the_end();
    if (contradicting.empty()) return converter.finish();
  }
  // Written again, because a heap must be marked as inexact before its first event.
  TorchConverter converter(snapshot, contradicting);
  converter.write();
  converter.compare_with_the_end();
  return converter.finish();
}

}  // namespace hbmscope
