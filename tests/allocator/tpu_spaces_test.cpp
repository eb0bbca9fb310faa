// Memory space assignment at work: VMEM, HBM and copies in the events of an emulation.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "allocator/emulated/tpu/emulation/emulation.h"
#include "tests/sizes.h"

namespace hbmscope::allocator::tpu {
namespace {

Array matrix(const std::string& name, std::uint64_t rows) {
  Array array;
  array.name = name;
  array.spec.type = find_element_type("f32");
  array.spec.dimensions = {rows, 1024};
  array.shard = *shard_of(array.spec, {}, *find_generation("v5e"));
  return array;
}

Value space_value(const std::string& name, Role role, std::uint64_t rows) {
  Value value;
  value.array = matrix(name, rows);
  value.role = role;
  value.binds = name;
  return value;
}

Operation space_operation(const std::string& name, std::vector<std::uint32_t> reads, std::vector<std::uint32_t> writes,
                          std::uint64_t compute_ns) {
  Operation operation;
  operation.name = name;
  operation.reads = std::move(reads);
  operation.writes = std::move(writes);
  operation.compute_ns = compute_ns;
  return operation;
}

// x and five weights of 16 MiB, a product each.
Workload products(std::uint64_t compute_ns, std::size_t runs) {
  Workload workload;
  workload.generation = find_generation("v5e");
  Program program;
  program.name = "products";
  program.values.push_back(space_value("x", Role::argument, 4096));
  for (int i = 0; i < 5; ++i) program.values.push_back(space_value("w" + std::to_string(i), Role::argument, 4096));
  for (int i = 0; i < 4; ++i) program.values.push_back(space_value("h" + std::to_string(i), Role::temporary, 4096));
  program.values.push_back(space_value("y", Role::output, 4096));
  for (std::uint32_t i = 0; i < 5; ++i)
    program.operations.push_back(space_operation("product", {i == 0 ? 0 : 5 + i, 1 + i}, {6 + i}, compute_ns));
  for (const Value& value : program.values)
    if (value.role == Role::argument) {
      workload.steps.push_back(
          {StepKind::put, value.array.name, static_cast<std::uint32_t>(workload.arrays.size()), false, {}});
      workload.arrays.push_back(value.array);
    }
  workload.programs.push_back(std::move(program));
  for (std::size_t i = 0; i < runs; ++i) workload.steps.push_back({StepKind::run, "products", 0, false, {}});
  workload.options.is_timed = true;
  return workload;
}

// No byte of a memory twice at a time, nothing freed that is not there, time that only passes.
void check_events(const Emulation& emulation) {
  std::map<Tier, std::map<std::uint64_t, std::uint64_t>> live;
  std::int64_t now = 0;
  std::map<std::string, int> copies;
  for (const Event& event : emulation.events) {
    ASSERT_GE(event.time_ns, now);
    now = event.time_ns;
    if (event.kind == EventKind::copy_begins) ++copies[event.name];
    if (event.kind == EventKind::copy_ends) {
      ASSERT_GE(--copies[event.name], 0) << event.name;
    }
    auto& blocks = live[event.tier];
    if (event.kind == EventKind::alloc) {
      for (const auto& [address, bytes] : blocks)
        ASSERT_TRUE(event.address + event.bytes <= address || address + bytes <= event.address)
            << event.name << " at " << event.address << " over " << address;
      blocks[event.address] = event.bytes;
    }
    if (event.kind == EventKind::free) {
      ASSERT_EQ(blocks.erase(event.address), 1) << event.address;
    }
  }
  for (const auto& [name, begun] : copies) ASSERT_EQ(begun, 0) << name;
  const auto& vmem = emulation.tier[static_cast<std::size_t>(Tier::vmem)];
  ASSERT_LE(vmem.peak_bytes, vmem.capacity_bytes.value_or(0));
}

TEST(TpuSpaces, an_emulation_ends_when_there_was_as_much_work_as_there_may_be) {
  const Workload workload = products(1'000'000, 100'000);
  Work some(1'000 * steps_of_event);
  const Emulation emulation = emulate(workload, &some);
  EXPECT_TRUE(some.is_over());
  EXPECT_FALSE(some.is_cancelled());
  EXPECT_GT(emulation.events.size(), 500);
  EXPECT_LT(emulation.events.size(), 1'100);
  std::atomic<bool> cancelled = true;
  Work nobodys(Work::no_limit, &cancelled);
  EXPECT_LT(emulate(workload, &nobodys).events.size(), 100);
  EXPECT_TRUE(nobodys.is_cancelled());
  // A sufficient limit changes nothing.
  const Workload few = products(1'000'000, 3);
  Work enough;
  EXPECT_EQ(emulate(few, &enough).time_ns, emulate(few).time_ns);
  EXPECT_FALSE(enough.is_over());
}

TEST(TpuSpaces, weights_are_copied_while_products_work) {
  const Workload workload = products(1'000'000, 3);
  const Emulation emulation = emulate(workload);
  check_events(emulation);
  const ProgramMemory& memory = emulation.programs[0];
  EXPECT_EQ(memory.vmem_share_bytes, 112 * mib);
  EXPECT_EQ(memory.spaces.prefetches, 4) << "w1 to w4; w0 has no time, x stays";
  EXPECT_EQ(memory.temp_bytes, 0) << "what products hand on is in VMEM";
  const SpaceFigures& figures = emulation.spaces[0];
  EXPECT_EQ(figures.fetched, 1);
  EXPECT_EQ(figures.kept, 2);
  EXPECT_EQ(figures.stalls, 1) << "the first fetch of x";
  EXPECT_EQ(figures.copied_bytes, 13 * 16 * mib) << "four weights in each of three runs, and x once";
  // Three runs of five products, and the wait before the first one.
  EXPECT_EQ(emulation.time_ns, 15 * 1'000'000 + figures.stall_ns);
}

TEST(TpuSpaces, an_emulated_gpu_has_no_vmem) {
  Workload workload = products(1'000'000, 1);
  workload.options.has_gpu = true;
  const ProgramMemory with = emulate(workload).programs[0];
  EXPECT_EQ(with.temp_bytes, 0);
  workload.options.assigns_vmem = false;
  const ProgramMemory without = emulate(workload).programs[0];
  EXPECT_GT(without.temp_bytes, 0);
  EXPECT_EQ(with.temp_bytes_without_vmem, without.temp_bytes);
  EXPECT_EQ(without.temp_bytes_without_vmem, without.temp_bytes);
}

TEST(TpuSpaces, what_is_named_twice_is_read_once) {
  Workload workload = products(1'000, 1);
  const std::uint64_t time_ns = emulate(workload).time_ns;
  for (Operation& operation : workload.programs[0].operations) {
    const std::vector<std::uint32_t> reads = operation.reads;
    operation.reads.insert(operation.reads.end(), reads.begin(), reads.end());
  }
  EXPECT_EQ(emulate(workload).time_ns, time_ns);
}

TEST(TpuSpaces, copies_get_what_operations_leave_of_hbm) {
  // The assignment takes the whole operation as time to copy; here an operation takes HBM for itself half of its time.
  Workload workload = products(30'000, 1);
  workload.options.vmem.prefetches_across_programs = false;
  const Emulation emulation = emulate(workload);
  check_events(emulation);
  ASSERT_GT(emulation.programs[0].spaces.prefetches, 0);
  EXPECT_GT(emulation.spaces[0].stalls, 0);
  EXPECT_GT(emulation.spaces[0].stall_ns, 0);
}

TEST(TpuSpaces, an_argument_that_is_new_is_fetched_again) {
  Workload workload = products(1'000'000, 1);
  for (std::uint32_t i = 0; i < workload.arrays.size(); ++i)
    workload.steps.push_back({StepKind::put, workload.arrays[i].name, i, false, {}});
  workload.steps.push_back({StepKind::run, "products", 0, false, {}});
  const Emulation emulation = emulate(workload);
  check_events(emulation);
  EXPECT_EQ(emulation.spaces[0].fetched, 2);
  EXPECT_EQ(emulation.spaces[0].kept, 0);
}

TEST(TpuSpaces, a_donated_argument_does_not_stay) {
  Workload workload = products(1'000'000, 1);
  for (Value& value : workload.programs[0].values) value.is_donated = value.array.name == "x";
  for (const Residence& residence : emulate(workload).programs[0].spaces.residences)
    EXPECT_FALSE(residence.is_from_last_run && residence.value == 0);
}

TEST(TpuSpaces, a_program_without_times_is_not_assigned_unless_requested) {
  Workload workload = products(0, 1);
  Emulation emulation = emulate(workload);
  EXPECT_EQ(emulation.programs[0].vmem_share_bytes, 0);
  EXPECT_FALSE(emulation.tier[static_cast<std::size_t>(Tier::vmem)].is_used);
  workload.options.assigns_vmem = true;
  emulation = emulate(workload);
  check_events(emulation);
  EXPECT_FALSE(emulation.programs[0].spaces.residences.empty());
  workload.programs[0].operations[0].compute_ns = 1'000'000;
  workload.options.assigns_vmem = false;
  EXPECT_EQ(emulate(workload).programs[0].vmem_share_bytes, 0);
  // On v4 scoped allocations may take all of VMEM.
  workload.options.assigns_vmem = true;
  workload.generation = find_generation("v4");
  EXPECT_EQ(emulate(workload).programs[0].vmem_share_bytes, 0);
  workload.options.vmem.reserved_bytes = 4 * mib;
  EXPECT_EQ(emulate(workload).programs[0].vmem_share_bytes, 12 * mib);
}

TEST(TpuSpaces, random_programs_keep_their_memories_in_order) {
  std::mt19937_64 random(11);
  const auto from = [&](std::uint64_t least, std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(least, most)(random);
  };
  std::uint64_t residences = 0, stalls = 0, evictions = 0;
  for (int round = 0; round < 1'500; ++round) {
    Workload workload;
    workload.generation = find_generation("v5e");
    workload.options.is_timed = from(0, 1) == 0;
    workload.options.vmem.reserved_bytes = from(64, 124) * mib;
    workload.options.assigns_vmem = true;
    Program program;
    program.name = "random";
    const std::size_t arguments = from(1, 6), operations = from(1, 20);
    for (std::size_t i = 0; i < arguments; ++i)
      program.values.push_back(space_value("a" + std::to_string(i), Role::argument, from(1, 8) * 1024));
    for (std::uint32_t i = 0; i < operations; ++i) {
      std::vector<std::uint32_t> reads;
      for (std::size_t count = from(1, 3); count > 0; --count)
        reads.push_back(static_cast<std::uint32_t>(from(0, program.values.size() - 1)));
      const auto written = static_cast<std::uint32_t>(program.values.size());
      program.values.push_back(
          space_value("v" + std::to_string(i), from(0, 4) == 0 ? Role::output : Role::temporary, from(1, 8) * 1024));
      program.operations.push_back(space_operation("o", reads, {written}, from(0, 2) == 0 ? 0 : from(1, 200'000)));
      program.operations.back().writes_in_place = from(0, 3) == 0;
    }
    for (const Value& value : program.values)
      if (value.role == Role::argument) {
        workload.steps.push_back(
            {StepKind::put, value.array.name, static_cast<std::uint32_t>(workload.arrays.size()), false, {}});
        workload.arrays.push_back(value.array);
      }
    workload.programs.push_back(std::move(program));
    for (std::size_t i = from(1, 3); i > 0; --i) workload.steps.push_back({StepKind::run, "random", 0, false, {}});
    const Emulation emulation = emulate(workload);
    check_events(emulation);
    ASSERT_FALSE(HasFatalFailure()) << "round " << round;
    ASSERT_TRUE(emulation.failures.empty());
    residences += emulation.programs[0].spaces.residences.size();
    evictions += emulation.programs[0].spaces.evictions;
    stalls += emulation.spaces[0].stalls;
  }
  EXPECT_GT(residences, 3'000);
  EXPECT_GT(stalls, 100);
  EXPECT_GT(evictions, 30);
}

}  // namespace
}  // namespace hbmscope::allocator::tpu
