// The emulated TPU: shards, programs, rings of blocks, HBM that slides together.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "allocator/emulated/tpu/emulation/checkpointing.h"
#include "allocator/emulated/tpu/emulation/emulation.h"
#include "allocator/emulated/tpu/emulation/error_text.h"
#include "allocator/emulated/tpu/hbm_memory.h"
#include "tests/sizes.h"

namespace hbmscope::allocator::tpu {
namespace {

const Generation& v5e() {
  return *find_generation("v5e");
}

ArraySpec array_of(const char* type, std::vector<std::uint64_t> dimensions,
                   std::vector<std::vector<std::string>> sharding = {}) {
  ArraySpec spec;
  spec.type = find_element_type(type);
  spec.dimensions = std::move(dimensions);
  spec.sharding = std::move(sharding);
  return spec;
}

TEST(TpuMesh, a_shard_is_padded_by_itself) {
  const Mesh mesh{{{"x", 8}}};
  // 32 x 64 over 8 devices: 32 x 8 on each, padded from 8 to 128 lanes.
  const auto shard = shard_of(array_of("f32", {32, 64}, {{}, {"x"}}), mesh, v5e());
  ASSERT_TRUE(shard);
  EXPECT_EQ(shard->unpadded_bytes, 1 * kib);
  EXPECT_EQ(shard->bytes, 4 * kib);
  EXPECT_EQ(shard->copies, 1);
  const auto replicated = shard_of(array_of("f32", {32, 128}), mesh, v5e());
  ASSERT_TRUE(replicated);
  EXPECT_EQ(replicated->copies, 8);
  EXPECT_EQ(replicated->bytes, 16 * kib);
}

TEST(TpuMesh, the_last_devices_of_an_uneven_dimension_hold_less) {
  const Mesh mesh{{{"x", 2}, {"y", 4}}};
  const ArraySpec spec = array_of("f32", {10, 128}, {{"y"}});
  const auto shard = shard_of(spec, mesh, v5e());
  ASSERT_TRUE(shard);
  EXPECT_TRUE(shard->is_uneven);
  EXPECT_EQ(shard->copies, 2);
  std::uint64_t sum = 0;
  for (std::uint64_t device = 0; device < 8; ++device) sum += held_bytes(spec, mesh, device);
  EXPECT_EQ(sum, 2 * shard->global_bytes);
  EXPECT_EQ(held_bytes(spec, mesh, 0), 3 * 512);
  EXPECT_EQ(held_bytes(spec, mesh, 3), 1 * 512);
  EXPECT_EQ(held_bytes(spec, mesh, 4), 3 * 512);
}

TEST(TpuMesh, what_no_mesh_can_do_is_refused) {
  const Mesh mesh{{{"x", 2}}};
  EXPECT_FALSE(shard_of(array_of("f32", {8, 8}, {{"z"}}), mesh, v5e()));
  EXPECT_FALSE(shard_of(array_of("f32", {8, 8}, {{"x"}, {"x"}}), mesh, v5e()));
  EXPECT_FALSE(shard_of(array_of("f32", {8}, {{}, {"x"}}), mesh, v5e()));
}

TEST(TpuMesh, sparse_core_pads_rows_to_32_bytes) {
  ArraySpec spec = array_of("f32", {1000, 3});
  spec.place = Place::sparse_core;
  const auto shard = shard_of(spec, {}, v5e());
  ASSERT_TRUE(shard);
  EXPECT_EQ(shard->bytes, allocated_bytes(v5e(), 1000 * 32));
}

Value value_of(const std::string& name, Role role, std::uint64_t rows, bool is_donated = false) {
  Value value;
  value.array.name = name;
  value.array.spec = array_of("f32", {rows, 1024});
  value.array.shard = *shard_of(value.array.spec, {}, v5e());
  value.role = role;
  value.binds = name;
  value.is_donated = is_donated;
  return value;
}

Operation operation_of(const std::string& name, std::vector<std::uint32_t> reads, std::vector<std::uint32_t> writes) {
  Operation operation;
  operation.name = name;
  operation.reads = std::move(reads);
  operation.writes = std::move(writes);
  return operation;
}

// x -> a -> b -> y, each of 256 rows: 1 MiB.
Program chain() {
  Program program;
  program.name = "chain";
  program.values = {value_of("x", Role::argument, 256, true), value_of("a", Role::temporary, 256),
                    value_of("b", Role::temporary, 256), value_of("y", Role::output, 256)};
  program.operations = {operation_of("one", {0}, {1}), operation_of("two", {1}, {2}), operation_of("three", {2}, {3})};
  return program;
}

TEST(TpuProgram, temporaries_live_from_their_write_to_their_last_read) {
  Program program = chain();
  const ProgramMemory memory = compute_program_memory(program, v5e(), true);
  EXPECT_EQ(memory.argument_bytes, 1 * mib);
  EXPECT_EQ(memory.output_bytes, 1 * mib);
  EXPECT_EQ(memory.alias_bytes, 1 * mib);
  EXPECT_EQ(memory.temp_bytes, 2 * mib);
  program.operations[1].writes_in_place = true;
  EXPECT_EQ(compute_program_memory(program, v5e(), true).temp_bytes, 1 * mib);
  EXPECT_EQ(compute_program_memory(program, v5e(), false).alias_bytes, 0);
}

TEST(TpuProgram, a_donated_argument_needs_an_output_of_its_shape) {
  Program program = chain();
  program.values[3] = value_of("y", Role::output, 128);
  const ProgramMemory memory = compute_program_memory(program, v5e(), true);
  EXPECT_EQ(memory.alias_bytes, 0);
  EXPECT_EQ(memory.unused_donation_bytes, 1 * mib);
}

TEST(TpuProgram, what_lives_at_once_never_overlaps) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    Program program;
    program.values = {value_of("x", Role::argument, 8)};
    for (std::uint32_t i = 1; i < 30; ++i) {
      program.values.push_back(value_of("t", Role::temporary, 8 * (1 + below(16))));
      std::vector<std::uint32_t> reads;
      for (std::uint32_t k = below(3) + 1; k > 0; --k) reads.push_back(below(i));
      program.operations.push_back(operation_of("op", reads, {i}));
      program.operations.back().writes_in_place = below(2) == 0;
    }
    const ProgramMemory memory = compute_program_memory(program, v5e(), true);
    std::uint64_t most = 0;
    for (std::size_t at = 0; at < program.operations.size(); ++at) {
      std::map<std::uint64_t, std::uint64_t> live;
      std::uint64_t sum = 0;
      for (const PlacedValue& placed : memory.placed) {
        // Written in place: the one below ends where the one above begins.
        const bool is_covered = std::any_of(memory.placed.begin(), memory.placed.end(), [&](const PlacedValue& over) {
          return over.over == placed.value && over.begin == at;
        });
        if (placed.begin > at || placed.end < at || is_covered) continue;
        live[placed.offset] = placed.bytes;
        sum += placed.bytes;
        EXPECT_LE(placed.offset + placed.bytes, memory.temp_bytes);
      }
      std::uint64_t end = 0, counted = 0;
      for (const auto& [offset, bytes] : live) {
        EXPECT_GE(offset, end) << "seed " << seed << ", operation " << at;
        end = offset + bytes;
        counted += bytes;
      }
      EXPECT_EQ(counted, sum) << "two values at one offset, seed " << seed;
      most = std::max(most, sum);
    }
    EXPECT_EQ(memory.temp_peak_bytes, most) << "seed " << seed;
    EXPECT_GE(memory.temp_bytes, most);
  }
}

TEST(TpuProgram, several_outputs_have_a_table_of_pointers) {
  const auto table_of = [](const char* generation, std::uint64_t outputs) {
    return tuple_table_bytes(*find_generation(generation), outputs);
  };
  // As in libtpu 0.0.51, which was tried with 2 to 200 outputs.
  for (const char* generation : {"v2", "v3"}) EXPECT_EQ(table_of(generation, 200), 1024);
  for (const char* generation : {"v4", "v5e"}) {
    EXPECT_EQ(table_of(generation, 2), 512);
    EXPECT_EQ(table_of(generation, 129), 1024);
  }
  for (const char* generation : {"v5p", "v6e", "tpu7x"}) {
    EXPECT_EQ(table_of(generation, 8), 32);
    EXPECT_EQ(table_of(generation, 9), 64);
    EXPECT_EQ(table_of(generation, 129), 544);
  }
}

// Four layers of two values each: what a layer is given (h) and what it makes inside (u, a product, and s).
Program layers() {
  Program program;
  program.name = "layers";
  program.values = {value_of("x", Role::argument, 256)};
  const auto add = [&](const std::string& name, Role role = Role::temporary) {
    program.values.push_back(value_of(name, role, 256));
    return static_cast<std::uint32_t>(program.values.size() - 1);
  };
  std::vector<std::uint32_t> h{0}, u, s;
  for (int i = 0; i < 4; ++i) {
    u.push_back(add("u"));
    s.push_back(add("s"));
    const std::uint32_t next = add("h");
    const std::string segment = "layer" + std::to_string(i);
    program.operations.push_back(operation_of("dot", {h.back()}, {u.back()}));
    program.operations.back().is_dot = true;
    program.operations.push_back(operation_of("tanh", {u.back()}, {s.back()}));
    program.operations.push_back(operation_of("out", {s.back()}, {next}));
    for (std::size_t k = program.operations.size() - 3; k < program.operations.size(); ++k)
      program.operations[k].segment = segment;
    h.push_back(next);
  }
  std::uint32_t d = h.back();
  for (int i = 3; i >= 0; --i) {
    const std::uint32_t next = i == 0 ? add("y", Role::output) : add("d");
    const auto k = static_cast<std::size_t>(i);
    program.operations.push_back(operation_of("back", {d, s[k], u[k], h[k]}, {next}));
    d = next;
  }
  return program;
}

TEST(TpuCheckpointing, each_policy_keeps_what_it_says) {
  const auto temp_of = [](Checkpointing policy) {
    return compute_program_memory(apply_checkpointing(layers(), policy), v5e(), true);
  };
  // None: u, s of all layers and the h between them; d takes the place of what went.
  const ProgramMemory none = temp_of(Checkpointing::none), dots = temp_of(Checkpointing::dots),
                      full = temp_of(Checkpointing::full), offload = temp_of(Checkpointing::offload);
  EXPECT_EQ(none.temp_peak_bytes, 13 * mib);    // 4 u, 4 s, 4 h, d.
  EXPECT_EQ(dots.temp_peak_bytes, 10 * mib);    // 4 u, 4 h, d, one s anew.
  EXPECT_EQ(full.temp_peak_bytes, 7 * mib);     // 4 h, d, u and s anew.
  EXPECT_EQ(offload.temp_peak_bytes, 7 * mib);  // As with `full`: u is copied back from the host.
  EXPECT_EQ(offload.host_temp_bytes, 4 * mib);
  EXPECT_EQ(none.host_temp_bytes, 0);
}

struct FreeRange {
  std::uint64_t begin = 0, end = 0;
};

std::vector<FreeRange> gaps_between(const std::map<std::uint64_t, std::uint64_t>& live, std::uint64_t begin,
                                    std::uint64_t end) {
  std::vector<FreeRange> gaps;
  for (const auto& [address, bytes] : live) {
    if (address > begin) gaps.push_back({begin, address});
    begin = address + bytes;
  }
  if (end > begin) gaps.push_back({begin, end});
  return gaps;
}

// The smallest in which so much has room; of equals, the highest. There must be one.
FreeRange best_of(const std::vector<FreeRange>& gaps, std::uint64_t bytes) {
  FreeRange best{0, 1U << 30};
  for (const FreeRange& gap : gaps)
    if (const std::uint64_t size = gap.end - gap.begin; size >= bytes && size <= best.end - best.begin) best = gap;
  return best;
}

TEST(TpuHbm, buffers_slide_up_and_leave_one_free_block) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    HbmMemory hbm(1000);
    std::map<std::uint64_t, std::uint64_t> live;
    ASSERT_TRUE(hbm.reserve(random() % 100));
    for (int i = 0; i < 60; ++i) {
      const std::vector<FreeRange> gaps = gaps_between(live, hbm.reserved_bytes(), 1000);
      std::uint64_t largest = 0;
      for (const FreeRange& gap : gaps) largest = std::max(largest, gap.end - gap.begin);
      ASSERT_EQ(hbm.largest_free_bytes(), largest);
      const std::uint64_t choice = random() % 7;
      if (choice == 0) {
        const std::uint64_t bytes = random() % 200;
        ASSERT_EQ(hbm.reserve(bytes), live.empty() || bytes <= live.begin()->first);
      } else if (choice < 5 || live.empty()) {
        const std::uint64_t bytes = 1 + random() % 60;
        const auto address = hbm.allocate(bytes);
        ASSERT_EQ(address.has_value(), bytes <= largest);
        if (!address) continue;
        EXPECT_EQ(*address + bytes, best_of(gaps, bytes).end);
        live[*address] = bytes;
      } else {
        const auto victim = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
        hbm.free(victim->first);
        live.erase(victim);
      }
    }
    const std::uint64_t free_bytes = hbm.free_bytes();
    std::map<std::uint64_t, std::uint64_t> moved = live;
    for (const Move& move : hbm.compact()) {
      ASSERT_EQ(moved.count(move.from), 1);
      ASSERT_EQ(moved.count(move.to), 0) << "over a buffer that was not moved yet";
      moved[move.to] = moved[move.from];
      ASSERT_EQ(moved[move.to], move.bytes);
      moved.erase(move.from);
    }
    EXPECT_EQ(hbm.free_bytes(), free_bytes);
    EXPECT_EQ(hbm.largest_free_bytes(), free_bytes);
    std::uint64_t end = 1000;
    for (auto each = moved.rbegin(); each != moved.rend(); ++each) EXPECT_EQ(end -= each->second, each->first);
  }
}

TEST(TpuErrors, sizes_are_printed_as_the_compiler_prints_them) {
  EXPECT_EQ(printed_bytes(512), "512B");
  EXPECT_EQ(printed_bytes(16 * kib), "16.0K");
  EXPECT_EQ(printed_bytes(16 * 1024 * mib - 258 * mib), "15.75G");
  EXPECT_EQ(printed_bytes(232 * mib + 681574), "232.65M");
}

}  // namespace
}  // namespace hbmscope::allocator::tpu
