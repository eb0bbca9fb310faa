#include "analysis/read/torch/trace_from_torch.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/read/torch/torch_history.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope {
namespace {

constexpr std::int64_t ns_per_us = 1000;
constexpr std::string_view machinery =
    "torch::unwind::.*|torch::CapturedTraceback::.*|torch::cuda::.*gather_with_cpp.*|c10::cuda::CUDACachingAllocator::.*";

std::uint64_t bytes_or_unknown(std::int64_t bytes) {
  return bytes < 0 ? wire::unknown_bytes : static_cast<std::uint64_t>(bytes);
}

class TorchConverter {
 public:
  explicit TorchConverter(const TorchSnapshot& snapshot)
      : snapshot_(snapshot), writer_(0, [this](wire::SharedBlock block) { append(std::move(block)); }) {
    trace_.streams.emplace_back();
    trace_.files = {snapshot.file};
    trace_.format = "torch";
    trace_.producer = "PyTorch memory snapshot";
    // What takes the stack and what takes the memory stands in every stack of C++ and says nothing about the program.
    trace_.drop_frames = std::string(machinery);
    trace_.file_bytes = snapshot.file_bytes;
    trace_.import = snapshot.import;
    stacks_.resize(snapshot.stacks.caller.size());
  }

  Trace convert() {
    write_job();
    find_devices();
    for (Device& device : devices_) write_beginning(device);
    write_entries();
    writer_.flush();
    report_problems();
    return std::move(trace_);
  }

 private:
  struct Device {
    const TorchTrace* trace = nullptr;
    TorchTrace empty;  // For devices that have segments and no trace.
    TorchHistory history;
    std::vector<std::uint32_t> order;
    std::uint32_t main_heap = 0;
    std::unordered_map<std::uint64_t, std::uint32_t> heap_of_live;  // By address.
    std::size_t next = 0;
  };

  void append(wire::SharedBlock block) {
    if (const auto fault = trace_.streams.front().append(std::move(block)))
      trace_.import.add("encoding", Severity::loss, 1, "A defect of hbmscope; please report it.", *fault);
  }

  void write_job() {
    writer_.add_job_fact("framework", "pytorch");
    writer_.add_job_fact("hbmscope.source", trace_.producer);
    writer_.add_job_fact("hbmscope.drop_frames", trace_.drop_frames);
    for (const TorchSetting& setting : snapshot_.settings)
      writer_.add_job_fact(fmt::format("torch.allocator.{}", snapshot_.text(setting.key)),
                           snapshot_.text(setting.value));
  }

  void find_devices() {
    std::map<std::int32_t, const TorchTrace*> traces;
    for (const std::int32_t device : snapshot_.segments.device) traces.emplace(device, nullptr);
    for (const TorchTrace& trace : snapshot_.traces)
      if (trace.size() > 0) traces[trace.device] = &trace;
    devices_.reserve(traces.size());
    for (const auto& [number, trace] : traces) {
      Device& device = devices_.emplace_back();
      device.empty.device = number;
      device.trace = trace == nullptr ? &device.empty : trace;
      device.history = compute_torch_history(snapshot_, *device.trace);
      device.order = order_segments(snapshot_, number);
      device.main_heap = heap_of_pool(number, 0, 0);
    }
  }

  std::uint32_t heap_of_pool(std::int32_t device, std::uint64_t first, std::uint64_t second) {
    const auto [found, is_new] = heaps_.try_emplace({device, first, second}, 0);
    if (!is_new) return found->second;
    wire::HeapRecord heap;
    heap.device = device < 0 ? wire::no_device : static_cast<std::uint32_t>(device);
    heap.layer = static_cast<std::uint8_t>(wire::Layer::pool);
    heap.flags = wire::heap_flag::has_regions | wire::heap_flag::has_requested | wire::heap_flag::has_addresses |
                 wire::heap_flag::is_complete_at_start;
    std::string name = fmt::format("GPU {}", device);
    if (first != 0 || second != 0) name += fmt::format(" private pool ({}, {})", first, second);
    return found->second = writer_.define_heap(heap, name, "device");
  }

  std::uint32_t heap_of_segment(const Device& device, std::uint32_t segment) {
    if (segment == TorchHistory::no_segment) return device.main_heap;
    return heap_of_pool(device.trace->device, snapshot_.segments.pool_first[segment],
                        snapshot_.segments.pool_second[segment]);
  }
  std::uint32_t heap_at(const Device& device, std::uint64_t address) {
    return heap_of_segment(device, find_segment(snapshot_, device.order, address));
  }

  // Callers have smaller numbers, so the chain upwards is short work: each stack is converted once.
  std::uint32_t stack_from(TorchStackId id) {
    if (id == TorchStackId::none) return 0;
    std::vector<std::uint32_t> chain;
    auto at = static_cast<std::uint32_t>(id);
    for (; at != 0 && stacks_[at] == 0; at = static_cast<std::uint32_t>(snapshot_.stacks.caller[at]))
      chain.push_back(at);
    std::uint32_t parent = at == 0 ? 0 : stacks_[at];
    for (auto it = chain.rbegin(); it != chain.rend(); ++it)
      parent = stacks_[*it] = writer_.define_stack(parent, frame_from(snapshot_.stacks.innermost[*it]));
    return parent;
  }
  std::uint32_t frame_from(TorchFrameId id) {
    const TorchFrame& frame = snapshot_.stacks.frames[static_cast<std::size_t>(id)];
    // A frame of C++ without debug information; PyTorch itself writes either nothing or "??".
    const std::string_view file = snapshot_.text(frame.file);
    return writer_.define_frame(snapshot_.text(frame.function), file.empty() ? "??" : file,
                                static_cast<std::uint32_t>(std::max(0, frame.line)));
  }

  // cudaStream_t handles as small numbers, in the order in which they appear; 0 stays the default stream.
  std::uint32_t stream_from(std::int64_t handle) {
    if (handle == 0) return 0;
    return streams_.try_emplace(handle, static_cast<std::uint32_t>(streams_.size() + 1)).first->second;
  }

  void write_beginning(Device& device) {
    for (const TorchInitialRegion& region : device.history.regions) {
      wire::RegionLiveRecord record;
      record.address = region.range.begin;
      record.size = region.range.size();
      record.heap = heap_of_segment(device, region.segment);
      record.flags = region.is_expandable ? wire::region_flag::joins_neighbours : 0;
      writer_.add(record, 0);
    }
    for (const TorchInitialBlock& block : device.history.blocks) {
      wire::LiveRecord record;
      record.address = block.address;
      record.size = block.size_bytes;
      record.requested = bytes_or_unknown(block.requested_bytes);
      record.heap = device.heap_of_live[block.address] = heap_of_segment(device, block.segment);
      record.stack = stack_from(block.stack);
      record.stream = stream_from(block.stream);
      record.flags = (block.is_pending ? wire::block_flag::is_pending : 0) |
                     (block.is_size_derived ? wire::block_flag::is_size_derived : 0);
      writer_.live(record);
    }
  }

  // Each device's entries are in order; between devices their times decide. Where a file has none (the oldest schema)
  // one device follows the other.
  void write_entries() {
    std::size_t annotation = 0;
    while (Device* device = find_next()) {
      const std::size_t entry = device->next++;
      const std::int64_t time = device->trace->time_us[entry];
      for (; annotation < snapshot_.annotations.size() && snapshot_.annotations[annotation].time_us <= time;
           ++annotation)
        write_annotation(snapshot_.annotations[annotation]);
      write_entry(*device, entry, time == absent_time ? 0 : time * ns_per_us);
    }
    for (; annotation < snapshot_.annotations.size(); ++annotation) write_annotation(snapshot_.annotations[annotation]);
  }

  Device* find_next() {
    Device* first = nullptr;
    for (Device& device : devices_) {
      if (device.next == device.trace->size()) continue;
      if (first == nullptr || device.trace->time_us[device.next] < first->trace->time_us[first->next]) first = &device;
    }
    return first;
  }

  void write_annotation(const TorchAnnotation& annotation) {
    wire::MarkerRecord record;
    record.name = writer_.define_string(snapshot_.text(annotation.name));
    record.device = static_cast<std::uint32_t>(annotation.device);
    const std::string_view stage = snapshot_.text(annotation.stage);
    record.phase = stage == "START" ? 1 : stage == "END" ? 2 : 0;
    writer_.add(record, annotation.time_us == absent_time ? 0 : annotation.time_us * ns_per_us);
  }

  void write_entry(Device& device, std::size_t entry, std::int64_t time) {
    const TorchTrace& trace = *device.trace;
    const std::uint64_t address = trace.address[entry];
    const std::uint32_t stack = stack_from(trace.stack[entry]);
    switch (trace.action[entry]) {
      case TorchAction::alloc: write_alloc(device, entry, stack, time); break;
      case TorchAction::free_requested:
        writer_.free_requested(heap_of(device, address), address, bytes_or_0(trace.size_bytes[entry]), stack, time);
        break;
      case TorchAction::free:
      case TorchAction::free_completed:
        writer_.free(heap_of(device, address), address, bytes_or_0(trace.size_bytes[entry]), stack, time);
        device.heap_of_live.erase(address);
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

  static std::uint64_t bytes_or_0(std::int64_t bytes) { return bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes); }

  std::uint32_t heap_of(const Device& device, std::uint64_t address) {
    const auto found = device.heap_of_live.find(address);
    return found == device.heap_of_live.end() ? heap_at(device, address) : found->second;
  }

  void write_alloc(Device& device, std::size_t entry, std::uint32_t stack, std::int64_t time) {
    const TorchTrace& trace = *device.trace;
    wire::AllocRecord record;
    record.address = trace.address[entry];
    record.size = device.history.entry_size_bytes[entry];
    record.requested = bytes_or_unknown(trace.size_bytes[entry]);
    record.heap = device.heap_of_live[record.address] = heap_at(device, record.address);
    record.stack = stack;
    record.stream = stream_from(trace.stream[entry]);
    record.tag = writer_.define_string(snapshot_.text(trace.user_metadata[entry]));
    record.flags = device.history.is_entry_size_derived[entry] != 0 ? wire::block_flag::is_size_derived : 0;
    writer_.alloc(record, time);
  }

  template <class Record>
  void write_region(Device& device, std::size_t entry, std::uint32_t stack, std::int64_t time, std::uint32_t flags) {
    Record record;
    record.address = device.trace->address[entry];
    record.size = bytes_or_0(device.trace->size_bytes[entry]);
    record.heap = heap_at(device, record.address);
    record.stack = stack;
    if constexpr (Record::kind == wire::RecordKind::region_grow) record.flags = flags;
    writer_.add(record, time);
  }

  void write_out_of_memory(Device& device, std::size_t entry, std::uint32_t stack, std::int64_t time) {
    wire::OutOfMemoryRecord record;
    record.asked = bytes_or_0(device.trace->size_bytes[entry]);
    record.available = wire::unknown_bytes;
    for (const TorchTrace::OutOfMemory& told : device.trace->out_of_memory)
      if (told.entry == entry) record.available = bytes_or_unknown(told.device_free_bytes);
    record.heap = device.main_heap;
    record.stack = stack;
    writer_.add(record, time);
  }

  void write_mark(Device& device, std::size_t entry, std::int64_t time) {
    wire::MarkerRecord record;
    std::string_view name = "snapshot";
    for (const TorchTrace::OtherAction& other : device.trace->other_actions)
      if (other.entry == entry) name = snapshot_.text(other.action);
    record.name = writer_.define_string(name);
    record.device = static_cast<std::uint32_t>(device.trace->device);
    writer_.add(record, time);
  }

  void report_problems() {
    std::uint64_t contradictions = 0, derived = 0, before = 0;
    for (const Device& device : devices_) {
      contradictions += device.history.contradictions;
      before += device.history.blocks.size();
      for (const std::uint8_t is_derived : device.history.is_entry_size_derived) derived += is_derived;
      for (const TorchInitialBlock& block : device.history.blocks) derived += block.is_size_derived ? 1 : 0;
    }
    ImportStatistics& import = trace_.import;
    import.add("events", Severity::info, static_cast<std::int64_t>(trace_.streams.front().counts().total));
    import.add("blocks_before_the_first_event", Severity::info, static_cast<std::int64_t>(before));
    if (derived > 0)
      import.add("size_derived", Severity::notice, static_cast<std::int64_t>(derived),
                 "PyTorch's trace tells what was asked, not what a block took; of blocks that were freed before the "
                 "snapshot the size follows from the allocator's rules.");
    if (contradictions > 0)
      import.add(
          "contradiction", Severity::warning, static_cast<std::int64_t>(contradictions),
          "Entries of the trace contradict the blocks of the snapshot: history was recorded while another thread "
          "allocated, or the trace is not of this snapshot. Moments before them are inexact.");
  }

  const TorchSnapshot& snapshot_;
  Trace trace_;
  wire::StreamWriter writer_;
  std::vector<Device> devices_;
  std::map<std::tuple<std::int32_t, std::uint64_t, std::uint64_t>, std::uint32_t> heaps_;
  std::unordered_map<std::int64_t, std::uint32_t> streams_;
  std::vector<std::uint32_t> stacks_;  // By TorchStackId; 0: not converted yet.
};

}  // namespace

Trace trace_from_torch(const TorchSnapshot& snapshot) {
  return TorchConverter(snapshot).convert();
}

}  // namespace hbmscope
