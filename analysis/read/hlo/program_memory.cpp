#include "analysis/read/hlo/program_memory.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "allocator/tpu/heap_packing.h"

namespace hbmscope::hlo {
namespace {

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

}  // namespace hbmscope::hlo
