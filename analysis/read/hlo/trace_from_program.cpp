#include "analysis/read/hlo/trace_from_program.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "allocator/emulated/tpu/heap_packing.h"
#include "analysis/read/attribute.h"
#include "analysis/read/counter.h"
#include "analysis/read/hlo/program.h"
#include "analysis/read/hlo/source_stacks.h"
#include "analysis/read/hlo/space_heaps.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/trace/trace_writer.h"

namespace hbmscope::hlo {
namespace {

// The memory that a program needs, summed as in XLA's memory analysis (pjrt_executable.h, CompiledMemoryStats): device
// memory only, without thread-local and host memory.
struct ProgramMemory {
  std::uint64_t argument_bytes = 0;
  std::uint64_t output_bytes = 0;  // Including those that alias arguments.
  std::uint64_t alias_bytes = 0;   // Part of both.
  std::uint64_t temp_bytes = 0;
  std::uint64_t donatable_bytes = 0;              // Outputs as large as a kept argument; each argument counts once.
  std::map<std::string, std::uint64_t> by_space;  // All allocations, by space_name.
};

constexpr std::uint64_t device_color = 0, host_color = 5;
constexpr std::uint64_t tpu_granularity = std::uint64_t{16} << 10;

// The alignment of offsets in a TPU's arena: 16 KiB, or less if an offset requires it.
std::uint64_t granularity_of(const Program& program, const Allocation& arena) {
  if (!program.is_tpu) return 1;
  std::uint64_t granularity = tpu_granularity;
  for (const Assigned& assigned : arena.assigned)
    while (assigned.offset % granularity != 0) granularity /= 2;
  return granularity;
}

bool has_values(const Program& program, const Allocation& arena) {
  return std::any_of(arena.assigned.begin(), arena.assigned.end(),
                     [&](const Assigned& assigned) { return !program.buffers[assigned.buffer].is_tuple; });
}

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t granularity) {
  return (bytes + granularity - 1) / granularity * granularity;
}

// The bytes of an arena that a memory analysis counts.
std::uint64_t counted_bytes(const Program& program, const Allocation& arena, std::uint64_t bytes) {
  if (!program.is_tpu) return bytes;
  return has_values(program, arena) ? rounded_up(bytes, granularity_of(program, arena)) : 0;
}

std::uint64_t packed_bytes(const Program& program, const HeapTrace& trace, std::uint64_t alignment) {
  allocator::tpu::BufferTimes times;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;  // By buffer.
  for (const HeapEvent& event : trace.events) {
    const auto known = numbers.find(event.buffer);
    if (event.kind == HeapEventKind::free) {
      if (known != numbers.end()) times.free(known->second);
      continue;
    }
    if (known != numbers.end()) continue;
    const std::uint64_t size = program.buffers[event.buffer].size;
    const auto other = numbers.find(event.canonical);
    const bool shares = event.kind == HeapEventKind::share_with && other != numbers.end();
    numbers.emplace(event.buffer, shares ? times.share_with(other->second, size) : times.alloc(size));
  }
  return allocator::tpu::pack_heap(times.finish(), alignment).size;
}

// The simulation omits tuple tables: each has its own memory while the program runs.
std::uint64_t table_bytes(const Program& program, const Allocation& arena, const HeapTrace& trace,
                          std::uint64_t granularity) {
  std::vector<bool> is_simulated(program.buffers.size());
  for (const HeapEvent& event : trace.events) is_simulated[event.buffer] = true;
  std::uint64_t bytes = 0;
  for (const Assigned& assigned : arena.assigned)
    if (!is_simulated[assigned.buffer] && program.buffers[assigned.buffer].is_tuple)
      bytes += rounded_up(assigned.size, granularity);
  return bytes;
}

std::uint64_t compute_donatable_bytes(const Program& program) {
  std::multiset<std::uint64_t> kept;
  for (const Allocation& each : program.allocations)
    if (each.is_parameter && !each.maybe_live_out && each.color == device_color) kept.insert(each.size);
  std::uint64_t bytes = 0;
  for (const Allocation& each : program.allocations) {
    if (each.is_parameter || each.is_thread_local || !each.maybe_live_out || each.color != device_color) continue;
    const auto same = kept.find(each.size);
    if (same == kept.end() || (program.is_tpu && !has_values(program, each))) continue;
    bytes += each.size;
    kept.erase(same);
  }
  return bytes;
}

ProgramMemory compute_program_memory(const Program& program) {
  ProgramMemory memory;
  for (const auto& [color, bytes] : program.reported_space_bytes)
    memory.by_space[space_name(program.is_tpu, color)] = bytes;
  for (const Allocation& allocation : program.allocations) {
    if (allocation.is_thread_local) continue;
    if (program.reported_space_bytes.empty())
      memory.by_space[space_name(program.is_tpu, allocation.color)] += allocation.size;
    if (allocation.color == host_color) continue;
    if (allocation.is_parameter) memory.argument_bytes += allocation.size;
    if (allocation.maybe_live_out) memory.output_bytes += allocation.size;
    if (allocation.is_parameter && allocation.maybe_live_out) memory.alias_bytes += allocation.size;
    if (allocation.is_temporary() && allocation.color == device_color)
      memory.temp_bytes += counted_bytes(program, allocation, allocation.size);
  }
  memory.donatable_bytes = compute_donatable_bytes(program);
  return memory;
}

// The temporaries of device memory, repacked in the compiler's order of events, if that is known.
std::optional<std::uint64_t> replay_temp_bytes(const Program& program) {
  std::uint64_t bytes = 0;
  for (const Allocation& allocation : program.allocations) {
    if (!allocation.is_temporary() || allocation.color != device_color) continue;
    if (program.is_tpu && !has_values(program, allocation)) continue;
    const auto trace = std::find_if(program.traces.begin(), program.traces.end(),
                                    [&](const HeapTrace& each) { return each.allocation == allocation.index; });
    const bool has_trace = trace != program.traces.end();
    // Values that all lie one after another need no simulation.
    if (!has_trace && allocation.assigned.size() > 1) return std::nullopt;
    const std::uint64_t granularity = granularity_of(program, allocation);
    const std::uint64_t packed =
        has_trace ? packed_bytes(program, *trace, granularity) + table_bytes(program, allocation, *trace, granularity)
                  : allocation.size;
    bytes += rounded_up(packed, granularity);
  }
  return bytes;
}

std::string name_of(const LogicalBuffer& buffer) {
  return buffer.instruction + buffer.index;
}

std::string_view kind_of(const Allocation& allocation) {
  if (allocation.is_parameter) return allocation.maybe_live_out ? "argument, also an output" : "argument";
  if (allocation.maybe_live_out) return "output";
  return allocation.is_constant ? "constant" : "temporary";
}

// The order of allocations within their space.
int rank_of(const Allocation& allocation) {
  if (allocation.is_parameter) return 0;
  if (allocation.maybe_live_out) return 1;
  return allocation.is_constant ? 2 : 3;
}

// An event of an arena, with its position in instruction order; a free gets the latest possible one.
struct TimedEvent {
  std::uint64_t position = 0;
  bool is_free = false;
  const Allocation* arena = nullptr;
  std::uint64_t buffer = 0;  // The first one of those that share memory.
};

class TraceMaker {
 public:
  TraceMaker(const Program& program, const std::string& name, std::uint64_t bytes)
      : program_(program), out_({name, "hlo", "XLA buffer assignment", "xla", bytes, TraceOrigin::program}) {
    if (!program.name.empty()) writer_.add_job_fact("hlo_module", program.name);
  }

  Trace make() {
    add_figures();
    std::vector<const Allocation*> order;
    for (const Allocation& allocation : program_.allocations)
      if (!allocation.is_thread_local && allocation.size > 0) order.push_back(&allocation);
    std::stable_sort(order.begin(), order.end(),
                     [](const Allocation* a, const Allocation* b) { return rank_of(*a) < rank_of(*b); });
    for (const Allocation* allocation : order) lay_out(*allocation);
    for (const Allocation* allocation : order)
      if (!allocation->is_temporary()) add_lasting(*allocation);
    add_temporaries(order);
    report();
    out_.close();
    return std::move(out_.trace());
  }

 private:
  void add_figure(std::string_view name, std::uint64_t value, std::uint32_t heap = 0) {
    add_counter(writer_, name, static_cast<std::int64_t>(value), heap, 0);
  }

  void add_figures() {
    const ProgramMemory memory = compute_program_memory(program_);
    for (const Allocation& allocation : program_.allocations)
      if (!allocation.is_thread_local) heap_of(allocation.color);
    if (program_.knows_kinds) {
      add_figure(reported_figure::program_argument, memory.argument_bytes);
      add_figure(reported_figure::program_output, memory.output_bytes);
      add_figure(reported_figure::program_alias, memory.alias_bytes);
      add_figure(reported_figure::program_temp, memory.temp_bytes);
      add_figure(reported_figure::program_donatable, memory.donatable_bytes);
      if (program_.code_bytes) add_figure(reported_figure::program_code, *program_.code_bytes);
      if (const auto replayed = replay_temp_bytes(program_))
        add_figure(reported_figure::program_replayed_temp, *replayed);
    }
    for (const auto& [color, heap] : heaps_) {
      const auto space = memory.by_space.find(space_name(program_.is_tpu, color));
      if (space != memory.by_space.end()) add_figure(reported_figure::program_space, space->second, heap);
    }
  }

  std::uint32_t heap_of(std::uint64_t color) {
    const auto found = heaps_.find(color);
    if (found != heaps_.end()) return found->second;
    constexpr std::uint32_t flags =
        wire::heap_flag::has_addresses | wire::heap_flag::has_regions | wire::heap_flag::has_requested;
    return heaps_[color] = define_space_heap(writer_, program_.is_tpu, color, flags);
  }

  void lay_out(const Allocation& allocation) {
    const std::uint32_t heap = heap_of(allocation.color);
    std::uint64_t& next = next_address_[allocation.color];
    bases_[&allocation] = next;
    wire::RegionGrowRecord region;
    region.address = next;
    region.size = allocation.size;
    region.heap = heap;
    writer_.add(region, 0);
    next += allocation.size;
  }

  // A block that is live as long as the program runs.
  void add_lasting(const Allocation& allocation) {
    const LogicalBuffer* first =
        allocation.assigned.empty() ? nullptr : &program_.buffers[allocation.assigned.front().buffer];
    add_block(allocation, first, 0, allocation.size);
  }

  // `buffer` may be null.
  void add_block(const Allocation& allocation, const LogicalBuffer* buffer, std::uint64_t offset, std::uint64_t size) {
    wire::AllocRecord block;
    block.address = bases_[&allocation] + offset;
    block.size = size;
    block.requested = buffer != nullptr ? find_data_bytes(buffer->shape, buffer->is_tuple, size) : wire::unknown_bytes;
    block.heap = heap_of(allocation.color);
    block.stack = buffer != nullptr ? stacks_.stack_of(buffer->op_name, buffer->source_frame, buffer->source_file,
                                                       buffer->source_line)
                                    : 0;
    block.tag = writer_.define_string(buffer != nullptr      ? name_of(*buffer)
                                      : program_.knows_kinds ? std::string(kind_of(allocation))
                                                             : fmt::format("allocation {}", allocation.index));
    const std::uint64_t number = writer_.alloc(block, 0);
    if (program_.knows_kinds) add_attribute(writer_, number, "kind", kind_of(allocation));
    if (buffer != nullptr) add_attribute(writer_, number, "shape", buffer->shape);
  }

  // Collects the events of one arena in the order of the compiler's simulator. Buffers that share memory become one
  // block, from the first begin to the last end.
  void collect(const Allocation& arena, const HeapTrace& trace, std::vector<TimedEvent>& events) {
    std::unordered_map<std::uint64_t, std::uint64_t> root_of;
    std::unordered_map<std::uint64_t, std::uint64_t> users;  // By root.
    const std::size_t begin = events.size();
    for (const HeapEvent& event : trace.events) {
      const std::uint64_t position = program_.buffers[event.buffer].position;
      if (event.kind == HeapEventKind::free) {
        const auto root = root_of.find(event.buffer);
        if (root == root_of.end() || users[root->second] == 0 || --users[root->second] > 0) continue;
        events.push_back({0, true, &arena, root->second});
        continue;
      }
      const auto canonical = root_of.find(event.canonical);
      const bool shares = event.kind == HeapEventKind::share_with && canonical != root_of.end();
      const std::uint64_t root = shares ? canonical->second : event.buffer;
      root_of[event.buffer] = root;
      if (users[root]++ == 0) events.push_back({position, false, &arena, root});
    }
    set_free_positions(events, begin);
  }

  // Each free comes just before the next allocation of its arena; without one, at the end.
  static void set_free_positions(std::vector<TimedEvent>& events, std::size_t begin) {
    std::uint64_t next = ~std::uint64_t{0};
    for (std::size_t i = events.size(); i-- > begin;) {
      if (events[i].is_free)
        events[i].position = next;
      else
        next = events[i].position = std::min(next, events[i].position);
    }
  }

  void add_temporaries(const std::vector<const Allocation*>& order) {
    std::vector<TimedEvent> events;
    places_.resize(program_.buffers.size());
    for (const Allocation* allocation : order) {
      if (!allocation->is_temporary()) continue;
      for (const Assigned& assigned : allocation->assigned) places_[assigned.buffer] = {allocation, &assigned};
      const auto trace = std::find_if(program_.traces.begin(), program_.traces.end(),
                                      [&](const HeapTrace& each) { return each.allocation == allocation->index; });
      if (trace != program_.traces.end() && !trace->events.empty()) {
        collect(*allocation, *trace, events);
        continue;
      }
      const bool is_single = allocation->assigned.size() == 1;
      if (!is_single && program_.knows_kinds) ++untimed_;
      add_block(*allocation, is_single ? &program_.buffers[allocation->assigned.front().buffer] : nullptr, 0,
                allocation->size);
    }
    // Stable: at equal positions, an arena's free precedes the allocation that may reuse its memory.
    std::stable_sort(events.begin(), events.end(), [](const TimedEvent& a, const TimedEvent& b) {
      return a.position != b.position ? a.position < b.position : false;
    });
    for (const TimedEvent& event : events) play(event);
  }

  void play(const TimedEvent& event) {
    const auto [arena, place] = places_[event.buffer];
    if (arena != event.arena) {  // It may name a buffer of another arena.
      ++unplaced_;
    } else if (event.is_free) {
      const auto live = live_[event.arena].find(place->offset);
      if (live != live_[event.arena].end() && live->second == place) end_block(*event.arena, place->offset);
    } else {
      make_room(*event.arena, *place);
      live_[event.arena][place->offset] = place;
      add_block(*event.arena, &program_.buffers[event.buffer], place->offset, place->size);
    }
  }

  void end_block(const Allocation& arena, std::uint64_t offset) {
    const auto live = live_[&arena].find(offset);
    writer_.free(heap_of(arena.color), bases_[&arena] + offset, live->second->size, 0, 0);
    live_[&arena].erase(live);
  }

  // The compiler may write a value over its operands before their time ends; from then on the memory belongs to the new
  // value.
  void make_room(const Allocation& arena, const Assigned& place) {
    auto& live = live_[&arena];
    auto each = live.lower_bound(place.offset);
    if (each != live.begin() && std::prev(each)->first + std::prev(each)->second->size > place.offset) --each;
    while (each != live.end() && each->first < place.offset + place.size) {
      const std::uint64_t offset = each->first;
      ++each;
      end_block(arena, offset);
      ++in_place_;
    }
  }

  void report() {
    ImportStatistics& import = out_.trace().import;
    import.add("buffers", Severity::info, static_cast<std::int64_t>(program_.buffers.size()));
    import.add("allocations", Severity::info, static_cast<std::int64_t>(program_.allocations.size()));
    const auto is_local = [](const Allocation& each) { return each.is_thread_local; };
    import.add_if_any(
        "thread_local_allocations", Severity::notice,
        static_cast<std::uint64_t>(std::count_if(program_.allocations.begin(), program_.allocations.end(), is_local)),
        "Memory of a computation while it runs; these may overlap, and no sum includes them.");
    import.add_if_any(
        "arenas_without_times", Severity::notice, untimed_,
        "The dump does not have the live ranges of the values in these arenas, so each arena is one block. The "
        "HloProto (--xla_dump_hlo_as_proto) has them, and so has the -live-range.txt of the same module next to a "
        "buffer-assignment.txt.");
    import.add_if_any(
        "values_without_ranges", Severity::warning, program_.without_ranges,
        "The text of live ranges does not name these values, so they were ignored. Check that it is from the same "
        "compilation.");
    import.add_if_any(
        "written_in_place", Severity::notice, in_place_,
        "Values whose memory the compiler reuses for a value made from them before their live range ends; they end "
        "there.");
    if (!program_.knows_kinds)
      import.add_if_any(
          "kinds_not_told", Severity::notice, program_.allocations.size(),
          "A memory usage report does not say what is an argument, an output or a temporary: each allocation is one "
          "block. The HloProto and buffer-assignment.txt do.");
    import.add_if_any("unknown_buffers", Severity::warning, program_.unknown_buffers,
                      "Buffers that are named but not described were ignored.");
    import.add_if_any("unplaced_buffers", Severity::warning, unplaced_,
                      "Events of buffers that have no place in their arena.");
    import.add_if_any("impossible_sizes", Severity::loss, program_.impossible,
                      "Impossible sizes count as 0; values outside their allocation were ignored.");
  }

  const Program& program_;
  TraceWriter out_;
  wire::StreamWriter& writer_ = out_.events();
  std::map<std::uint64_t, std::uint32_t> heaps_;         // By color.
  std::map<std::uint64_t, std::uint64_t> next_address_;  // By color.
  std::unordered_map<const Allocation*, std::uint64_t> bases_;
  SourceStacks stacks_{writer_, program_.source};
  struct Place {
    const Allocation* arena = nullptr;
    const Assigned* assigned = nullptr;
  };
  std::vector<Place> places_;                                                             // By buffer, for temporaries.
  std::unordered_map<const Allocation*, std::map<std::uint64_t, const Assigned*>> live_;  // By offset.
  std::uint64_t untimed_ = 0, unplaced_ = 0, in_place_ = 0;
};

}  // namespace

void leave_out_impossible(Program& program) {
  constexpr std::uint64_t most = std::uint64_t{1} << 61;  // In total.
  std::uint64_t buffers = 0, allocations = 0;
  const auto limit = [&](std::uint64_t& size, std::uint64_t& sum) {
    if (size >= most - sum) {
      size = 0;
      ++program.impossible;
    }
    sum += size;
  };
  std::uint64_t reported = 0;
  for (auto& [color, bytes] : program.reported_space_bytes) limit(bytes, reported);
  for (LogicalBuffer& buffer : program.buffers) limit(buffer.size, buffers);
  for (Allocation& allocation : program.allocations) {
    limit(allocation.size, allocations);
    const auto is_outside = [&](const Assigned& each) {
      return each.offset > allocation.size || each.size > allocation.size - each.offset;
    };
    program.impossible += static_cast<std::uint64_t>(std::erase_if(allocation.assigned, is_outside));
  }
}

void lend_sources(Program& program) {
  const auto has_source = [](const LogicalBuffer& one) { return one.source_frame != 0 || !one.source_file.empty(); };
  for (const Allocation& allocation : program.allocations) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, const LogicalBuffer*> fillers;  // By offset and size.
    for (const Assigned& each : allocation.assigned) {
      const LogicalBuffer& one = program.buffers[each.buffer];
      if (has_source(one) && one.instruction.find("dynamic-update-slice") != std::string::npos)
        fillers.try_emplace({each.offset, each.size}, &one);
    }
    for (const Assigned& each : allocation.assigned) {
      LogicalBuffer& one = program.buffers[each.buffer];
      const auto filler = fillers.find({each.offset, each.size});
      if (filler == fillers.end() || has_source(one) || !one.op_name.empty()) continue;
      one.op_name = filler->second->op_name;
      one.source_file = filler->second->source_file;
      one.source_line = filler->second->source_line;
      one.source_frame = filler->second->source_frame;
    }
  }
}

std::string space_name(bool is_tpu, std::uint64_t color) {
  // For TPUs, as in xprof's memory viewer and libtpu's messages; 4 and 6 are small and have no confirmed name.
  if (is_tpu) {
    switch (color) {
      case 0: return "hbm";
      case 1: return "vmem";
      case 2: return "sflag";
      case 3: return "cmem";
      default: break;
    }
  } else if (color == device_color) {
    return "device";
  }
  return color == host_color ? "host" : fmt::format("color_{}", color);
}

Trace trace_from_program(const Program& program, const std::string& name, std::uint64_t bytes) {
  return TraceMaker(program, name, bytes).make();
}

}  // namespace hbmscope::hlo
