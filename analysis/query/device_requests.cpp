#include "analysis/query/device_requests.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/trace/layers.h"
#include "analysis/trace/pass.h"
#include "analysis/trace/stream_names.h"

namespace hbmscope {
namespace {

using allocator::Operation;

constexpr std::uint64_t from_before = std::uint64_t{1} << 63;  // With the slot: the key of a block without id.

// Collects the requests of one device.
class Collector {
 public:
  struct RequestedBlock {
    std::uint64_t address, requested, size;
    std::uint32_t heap, device_stream, private_pool;
    bool is_at_upper_end;
  };
  void allocate(std::uint64_t key, const RequestedBlock& requested, const allocator::Origin& origin) {
    const bool is_reported = requested.requested != wire::unknown_bytes;
    if (!is_reported) ++found.unknown_requests;
    note_heap(requested.heap);
    slots_[key] = add_request(is_reported ? requested.requested : requested.size, requested, origin);
    found.places.addresses.back() = requested.address;
    found.at_upper_end.back() = requested.is_at_upper_end;
    found.has_two_ends = found.has_two_ends || requested.is_at_upper_end;
    if (requested.private_pool != 0) private_pools_.insert(requested.private_pool);
    streams_.insert(requested.device_stream);
    found.private_pools = private_pools_.size();
    found.streams = streams_.size();
  }
  void free(std::uint64_t key, std::int64_t time_ns) {
    const auto slot = slots_.find(key);
    if (slot == slots_.end()) return;
    // Its memory was free before anything else happened.
    auto& program = found.program_frees;
    if (!program.empty() && program.back().free.slot == slot->second &&
        program.back().free.before_operation == found.stream.operations.size())
      program.pop_back();
    add_free(slot->second, {time_ns, 0, 0});
    slots_.erase(slot);
  }
  void free_by_program(std::uint64_t key) {
    if (const auto slot = slots_.find(key); slot != slots_.end())
      found.program_frees.push_back({position_, {found.stream.operations.size(), slot->second, false}});
  }
  void fail(std::uint64_t requested, std::uint64_t event, const allocator::Origin& origin) {
    found.failures.emplace_back(found.stream.operations.size(), event);
    add_free(add_request(requested, {}, origin), origin);
  }
  void set_event(std::uint64_t event) { position_ = event + 1; }

  void note_region(std::uint32_t heap, AddressRange range, bool is_released, bool is_expandable) {
    note_heap(heap);
    found.places.regions.push_back(
        {found.stream.operations.size(), {range.begin, range.size()}, is_released, is_expandable, position_});
  }
  void note_heap(std::uint32_t heap) {
    heaps_.insert(heap);
    found.heaps = heaps_.size();
  }

  DeviceRequests found;

 private:
  std::uint32_t add_request(std::uint64_t bytes, const RequestedBlock& block, const allocator::Origin& origin) {
    std::uint32_t slot = found.stream.slots;
    if (unused_.empty()) {
      ++found.stream.slots;
    } else {
      slot = unused_.back();
      unused_.pop_back();
    }
    Operation operation;
    operation.slot = slot;
    operation.request.bytes = bytes;
    operation.request.stream = block.device_stream;
    operation.request.private_pool = block.private_pool;
    add(operation, origin);
    return slot;
  }
  void add_free(std::uint32_t slot, const allocator::Origin& origin) {
    Operation operation;
    operation.is_free = true;
    operation.slot = slot;
    add(operation, origin);
    unused_.push_back(slot);
  }
  void add(const Operation& operation, const allocator::Origin& origin) {
    found.stream.operations.push_back(operation);
    found.stream.answers.emplace_back();
    found.stream.origins.push_back(origin);
    found.places.addresses.push_back(0);
    found.positions.push_back(position_);
    found.at_upper_end.push_back(false);
  }

  std::uint64_t position_ = 0;
  std::set<std::uint32_t> private_pools_, streams_;
  std::unordered_map<std::uint64_t, std::uint32_t> slots_;  // By allocation id.
  std::vector<std::uint32_t> unused_;
  std::set<std::uint32_t> heaps_;
};

std::uint64_t key_of(const LiveBlock& block) {
  return block.event == wire::before_the_stream ? from_before | block.slot : block.event;
}

class StreamRequests {
 public:
  using Collectors = std::map<std::uint32_t, Collector>;  // By device.

  StreamRequests(const Stream& stream, const std::vector<bool>& counts, Collectors& collectors)
      : stream_(stream), counts_(counts), collectors_(collectors) {}

  void collect() {
    collect_before();
    pass_over_heaps(
        stream_, stream_.end_position(), nullptr,
        [&](const StreamState&, const HeapChange& change, const wire::DecodedBlock& block) { take(change, block); },
        [&](const wire::DecodedBlock& block, const RecordPlace& place) { take_failure(block, place); });
  }

 private:
  // Null unless the heap counts.
  Collector* of_heap(std::uint32_t heap) {
    if (heap >= counts_.size() || !counts_[heap]) return nullptr;
    return &collectors_[stream_.definitions().heap(heap).device];
  }

  void collect_before() {
    const StreamState state = stream_.state_at(0);
    std::vector<LiveBlock> blocks;
    for (const LiveBlock& block : state.slots())
      if (block.is_live() && of_heap(block.heap) != nullptr) blocks.push_back(block);
    std::sort(blocks.begin(), blocks.end(),
              [](const LiveBlock& a, const LiveBlock& b) { return a.address < b.address; });
    for (std::uint32_t heap = 1; heap < counts_.size(); ++heap) {
      Collector* collector = of_heap(heap);
      if (collector == nullptr) continue;
      allocator::RecordedPlaces& places = collector->found.places;
      state.heap(heap).space.for_each_region([&](AddressRange range, Joining joining) {
        collector->note_heap(heap);
        places.regions_before.push_back({range.begin, range.size()});
        places.private_pools_before.push_back(private_pool_of(heap));
        places.is_expandable_before |= joining == Joining::with_neighbours;
      });
    }
    for (const LiveBlock& block : blocks) {
      Collector& collector = *of_heap(block.heap);
      ++collector.found.lived_before;
      collector.found.places.blocks_before.push_back({block.address, block.size, block.requested, true});
      collector.allocate(key_of(block),
                         {block.address, block.requested, block.size, block.heap, block.stream,
                          private_pool_of(block.heap), is_at_upper_end(block.flags)},
                         {stream_.first_time_ns(), block.stack, block.tag});
    }
  }

  void take(const HeapChange& change, const wire::DecodedBlock& block) {
    Collector* collector = of_heap(change.heap);
    if (collector == nullptr) return;
    collector->set_event(change.place.event);
    take_region(change, block, *collector);
    const wire::AllocRecord& taken = change.allocated;
    if (change.what == HeapChange::What::allocated)
      collector->allocate(change.place.event,
                          {taken.address, taken.requested, taken.size, taken.heap, taken.stream,
                           private_pool_of(taken.heap), is_at_upper_end(taken.flags)},
                          {change.time_ns, taken.stack, taken.tag});
    if (change.place.kind == wire::RecordKind::free_requested && change.block)
      collector->free_by_program(key_of(*change.block));
    if (change.what == HeapChange::What::freed) collector->free(key_of(*change.block), change.time_ns);
    for (const LiveBlock& went : change.went) collector->free(key_of(went), change.time_ns);
  }

  void take_region(const HeapChange& change, const wire::DecodedBlock& block, Collector& collector) {
    if (change.place.kind == wire::RecordKind::region_grow) {
      const auto& record = block.rows<wire::RegionGrowRecord>()[change.place.row];
      collector.note_region(change.heap, {record.address, record.address + record.size}, false,
                            (record.flags & wire::region_flag::joins_neighbours) != 0);
    }
    if (change.place.kind == wire::RecordKind::region_shrink) {
      const auto& record = block.rows<wire::RegionShrinkRecord>()[change.place.row];
      collector.note_region(change.heap, {record.address, record.address + record.size}, true, false);
    }
  }

  void take_failure(const wire::DecodedBlock& block, const RecordPlace& place) {
    if (place.kind != wire::RecordKind::out_of_memory) return;
    const auto& failure = block.rows<wire::OutOfMemoryRecord>()[place.row];
    Collector* collector = of_heap(failure.heap);
    if (collector == nullptr) return;
    collector->set_event(place.event);
    collector->fail(failure.requested, place.event, {place.time_ns, failure.stack, 0});
  }

  static bool is_at_upper_end(std::uint32_t flags) { return (flags & wire::block_flag::upper_end) != 0; }
  // A private pool of PyTorch is a heap of its own, and known by its name.
  std::uint32_t private_pool_of(std::uint32_t heap) const {
    return stream_.definitions().heap(heap).name.find(private_pool_words) == std::string::npos ? 0 : heap;
  }

  const Stream& stream_;
  const std::vector<bool>& counts_;
  Collectors& collectors_;
};

}  // namespace

bool DeviceRequests::has_only_failures() const {
  const auto requested = std::count_if(stream.operations.begin(), stream.operations.end(),
                                       [](const Operation& one) { return !one.is_free; });
  return static_cast<std::size_t>(requested) == failures.size();
}

Result<DeviceRequests> find_device_requests(const Trace& trace, std::optional<std::uint32_t> device,
                                            std::optional<std::size_t> stream) {
  const auto counts = find_counted_heaps(trace);
  std::vector<DeviceRequests> all;
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    if (stream && i != *stream) continue;
    StreamRequests::Collectors collectors;
    StreamRequests(trace.streams[i], counts[i], collectors).collect();
    for (auto& [number, collector] : collectors) {
      collector.found.trace_stream = i;
      if (number != wire::no_device) collector.found.device = number;
      if (!trace.stream_files.empty()) collector.found.file = trace.stream_files[i];
      if (!collector.found.stream.operations.empty()) all.push_back(std::move(collector.found));
    }
  }
  if (all.empty()) return Failure(Error{"it has no requests for memory", "Open a trace with allocations.", {}, {}, {}});
  const auto chosen = std::max_element(all.begin(), all.end(), [&](const DeviceRequests& a, const DeviceRequests& b) {
    const auto rank = [&](const DeviceRequests& requests) {
      return std::pair(!device || requests.device == device, requests.stream.operations.size());
    };
    return rank(a) < rank(b);
  });
  if (device && chosen->device != device)
    return Failure(
        Error{fmt::format("no allocation is on device {}", *device), "Choose another --device.", {}, {}, {}});
  chosen->other_devices = all.size() - 1;
  return std::move(*chosen);
}

}  // namespace hbmscope
