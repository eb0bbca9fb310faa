#include "allocator/emulated/tpu/emulation/program_memory.h"

#include <algorithm>
#include <map>

#include "allocator/emulated/tpu/heap_packing.h"

namespace hbmscope::allocator::tpu {
namespace {

constexpr std::uint64_t pointer_bytes = 4;

struct Range {
  bool is_written = false;
  std::size_t begin = 0, end = 0;
  std::size_t last_touched = 0;  // Not before the end: a value in HBM may live on in VMEM.
};

std::vector<Range> ranges_of(const Program& program) {
  std::vector<Range> ranges(program.values.size());
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const auto reach = [&](std::uint32_t value, bool writes) {
      Range& range = ranges[value];
      if (writes && !range.is_written) range = {true, i, i, i};
      range.end = range.last_touched = i;
    };
    for (const std::uint32_t value : program.operations[i].writes) reach(value, true);
    for (const std::uint32_t value : program.operations[i].reads) reach(value, false);
  }
  return ranges;
}

class Packer {
 public:
  Packer(const Program& program, const std::vector<Range>& ranges, Place place, std::uint64_t alignment, Work* work)
      : program_(program),
        ranges_(ranges),
        place_(place),
        alignment_(alignment),
        work_(work),
        ends_(program.operations.size()) {
    for (std::uint32_t value = 0; value < ranges.size(); ++value)
      if (is_here(value)) ends_[ranges[value].end].push_back(value);
  }

  // Returns the size of the heap.
  std::uint64_t pack(std::vector<PlacedValue>& placed) {
    for (std::size_t i = 0; i < program_.operations.size(); ++i) run(i);
    const PackedHeap heap = pack_heap(times_.finish(), alignment_, work_);
    for (const std::uint32_t value : order_) {
      const std::uint32_t buffer = buffers_.at(value);
      const auto over = over_.find(value);
      placed.push_back({value, heap.offsets[buffer], bytes_of(value), ranges_[value].begin, ranges_[value].end,
                        over == over_.end() ? std::nullopt : std::optional(over->second)});
    }
    return heap.size;
  }

 private:
  std::uint64_t bytes_of(std::uint32_t value) const { return program_.values[value].array.shard.bytes; }

  bool is_here(std::uint32_t value) const {
    const Value& each = program_.values[value];
    return each.role == Role::temporary && ranges_[value].is_written && each.array.spec.place == place_;
  }

  // First everything that begins, then everything that ends (HeapSimulator::RunComputation).
  void run(std::size_t i) {
    const Operation& operation = program_.operations[i];
    std::vector<std::uint32_t> gone;
    for (const std::uint32_t value : operation.writes) {
      if (!is_here(value) || ranges_[value].begin != i || buffers_.count(value) != 0) continue;
      order_.push_back(value);
      const std::uint32_t* under = operation.writes_in_place ? find_under(operation, value, i, gone) : nullptr;
      if (under == nullptr) {
        buffers_[value] = times_.alloc(bytes_of(value));
        continue;
      }
      times_.free(buffers_.at(*under));
      gone.push_back(*under);
      over_[value] = *under;
      buffers_[value] = times_.share_with(buffers_.at(*under), bytes_of(value));
    }
    const auto free = [&](std::uint32_t value) {
      if (std::find(gone.begin(), gone.end(), value) != gone.end()) return;
      times_.free(buffers_.at(value));
      gone.push_back(value);
    };
    for (const std::uint32_t value : all_of(operation))
      if (is_here(value) && ranges_[value].end == i) free(value);
    // Values that the operation does not touch: copied to VMEM until then.
    for (const std::uint32_t value : ends_[i]) free(value);
  }

  static std::vector<std::uint32_t> all_of(const Operation& operation) {
    std::vector<std::uint32_t> all = operation.reads;
    all.insert(all.end(), operation.writes.begin(), operation.writes.end());
    return all;
  }

  // An operand of the same size whose last use this is, and that does not overwrite another value itself.
  const std::uint32_t* find_under(const Operation& operation, std::uint32_t value, std::size_t i,
                                  const std::vector<std::uint32_t>& gone) const {
    for (const std::uint32_t& read : operation.reads)
      if (is_here(read) && ranges_[read].end == i && ranges_[read].last_touched == i &&
          bytes_of(read) == bytes_of(value) && std::find(gone.begin(), gone.end(), read) == gone.end())
        return &read;
    return nullptr;
  }

  const Program& program_;
  const std::vector<Range>& ranges_;
  const Place place_;
  const std::uint64_t alignment_;
  Work* const work_;
  BufferTimes times_;
  std::map<std::uint32_t, std::uint32_t> buffers_, over_;  // By value.
  std::vector<std::vector<std::uint32_t>> ends_;           // By operation.
  std::vector<std::uint32_t> order_;
};

void match_donations(const Program& program, bool donates, Work* work, ProgramMemory& memory) {
  std::vector<bool> is_taken(program.values.size(), false);
  memory.argument_under.assign(program.values.size(), std::nullopt);
  for (std::uint32_t in = 0; in < program.values.size(); ++in) {
    const Value& argument = program.values[in];
    if (!donates || argument.role != Role::argument || !argument.is_donated) continue;
    if (work != nullptr && !work->spend(program.values.size())) return;
    bool is_matched = false;
    for (std::uint32_t out = 0; out < program.values.size() && !is_matched; ++out) {
      const Value& output = program.values[out];
      if (output.role != Role::output || is_taken[out]) continue;
      if (output.array.shard.shape != argument.array.shard.shape) continue;
      is_matched = is_taken[out] = true;
      memory.argument_under[out] = in;
      memory.alias_bytes += argument.array.shard.bytes;
    }
    if (!is_matched) memory.unused_donation_bytes += argument.array.shard.bytes;
  }
}

// The most bytes that are live at a time, and how many of them were requested.
void find_peak(const Program& program, ProgramMemory& memory) {
  std::uint64_t live = 0, unpadded = 0;
  std::vector<std::vector<const PlacedValue*>> begins(program.operations.size()), ends(program.operations.size());
  for (const PlacedValue& placed : memory.placed) {
    if (program.values[placed.value].array.spec.place != Place::hbm) continue;
    begins[placed.begin].push_back(&placed);
    ends[placed.end].push_back(&placed);
  }
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    // For a value written in place: the one below ends when this one begins.
    const auto unpadded_of = [&](std::uint32_t value) { return program.values[value].array.shard.unpadded_bytes; };
    for (const PlacedValue* placed : begins[i]) {
      live += placed->over ? 0 : placed->bytes;
      unpadded += unpadded_of(placed->value) - (placed->over ? unpadded_of(*placed->over) : 0);
    }
    if (live > memory.temp_peak_bytes) {
      memory.temp_peak_bytes = live;
      memory.temp_unpadded_bytes = unpadded;
    }
    for (const PlacedValue* placed : ends[i]) {
      const bool is_under = std::any_of(begins[i].begin(), begins[i].end(),
                                        [&](const PlacedValue* each) { return each->over == placed->value; });
      if (is_under) continue;
      live -= placed->bytes;
      unpadded -= unpadded_of(placed->value);
    }
  }
}

// Assigns values to VMEM, and reduces their lifetimes in HBM to the rest.
void assign_spaces(const Program& program, const VmemShare& whole, std::uint64_t alignment, std::vector<Range>& ranges,
                   Work* work, ProgramMemory& memory) {
  VmemShare share = whole;
  share.capacity_bytes -= std::min(share.capacity_bytes, memory.vmem_bytes);
  if (!share.options.is_on || share.capacity_bytes == 0) return;
  const AssignmentProblem problem = problem_from_program(program, memory.argument_under, share, alignment);
  memory.vmem_share_bytes = share.capacity_bytes;
  memory.spaces = assign_memory_spaces(problem, work);
  memory.vmem_bytes_touched = vmem_bytes_by_operation(problem, memory.spaces);
  for (std::uint32_t value = 0; value < ranges.size(); ++value) {
    Range& range = ranges[value];
    if (!range.is_written || program.values[value].role != Role::temporary) continue;
    const auto in_hbm = hbm_range(problem, memory.spaces, value, {range.begin, range.end});
    range = in_hbm ? Range{true, in_hbm->begin, in_hbm->end, range.last_touched} : Range{};
  }
}

}  // namespace

std::uint64_t tuple_table_bytes(const Generation& generation, std::uint64_t outputs) {
  const std::uint64_t piece = generation.tuple_table_bytes;
  return (outputs * pointer_bytes + piece - 1) / piece * piece;
}

ProgramMemory compute_program_memory(const Program& program, const Generation& generation, bool donates,
                                     const VmemShare& share, Work* work) {
  ProgramMemory memory;
  memory.code_bytes = program.code_bytes;
  match_donations(program, donates, work, memory);
  std::uint64_t outputs = 0;
  for (const Value& value : program.values) {
    if (value.array.spec.place == Place::host) continue;
    if (value.role == Role::argument) memory.argument_bytes += value.array.shard.bytes;
    if (value.role == Role::output) {
      memory.output_bytes += value.array.shard.bytes;
      ++outputs;
    }
  }
  if (outputs > 1) memory.tuple_bytes = tuple_table_bytes(generation, outputs);
  memory.output_bytes += memory.tuple_bytes;
  std::vector<Range> ranges = ranges_of(program);
  const std::uint64_t alignment = generation.allocation_bytes;
  std::vector<PlacedValue> elsewhere;
  memory.host_temp_bytes = Packer(program, ranges, Place::host, alignment, work).pack(elsewhere);
  memory.vmem_bytes = Packer(program, ranges, Place::vmem, alignment, work).pack(elsewhere);
  memory.cmem_bytes = Packer(program, ranges, Place::cmem, alignment, work).pack(elsewhere);
  const std::vector<Range> whole_ranges = ranges;
  assign_spaces(program, share, alignment, ranges, work, memory);
  memory.temp_bytes = memory.temp_bytes_without_vmem =
      Packer(program, ranges, Place::hbm, alignment, work).pack(memory.placed);
  if (std::vector<PlacedValue> nowhere; memory.vmem_share_bytes > 0)
    memory.temp_bytes_without_vmem = Packer(program, whole_ranges, Place::hbm, alignment, work).pack(nowhere);
  memory.placed.insert(memory.placed.end(), elsewhere.begin(), elsewhere.end());
  find_peak(program, memory);
  std::stable_sort(memory.placed.begin(), memory.placed.end(),
                   [](const PlacedValue& a, const PlacedValue& b) { return a.begin < b.begin; });
  return memory;
}

}  // namespace hbmscope::allocator::tpu
