// XLA's buffer assignments: small ones of our own making as message and text, and the programs of the folder of data.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <nlohmann/json.hpp>

#include "analysis/query/heap_rows.h"
#include "analysis/query/program_memory.h"
#include "analysis/read/gzip.h"
#include "analysis/read/hlo/read_buffer_assignment.h"
#include "analysis/read/hlo/read_hlo.h"
#include "analysis/read/hlo/read_hlo_proto.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/pass.h"
#include "tests/analysis/proto_message.h"
#include "tests/analysis/text_bytes.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

using tests::Message;

Trace program_trace(const std::string& bytes) {
  EXPECT_TRUE(looks_like_hlo(bytes_of(bytes)));
  auto trace = read_hlo(bytes_of(bytes), "dump");
  EXPECT_TRUE(trace) << trace.error().what;
  return std::move(*trace);
}

// f32[rows,128] in tiles of 8 x 128, in a memory space.
Message array_shape(std::uint64_t rows, std::uint64_t space) {
  Message tile, layout, shape;
  tile.text(1, std::string("\x08\x80\x01", 3));
  layout.text(1, std::string("\x01\x00", 2)).add(6, tile);
  if (space != 0) layout.number(8, space);
  return shape.number(2, 11).number(3, rows).number(3, 128).add(5, layout);
}

Message instruction(const std::string& name, std::uint64_t id, const Message& shape, const std::string& op_name) {
  Message metadata, message;
  metadata.text(2, op_name).text(3, "/home/me/train.py").number(4, 12);
  return message.text(1, name).text(2, "fusion").add(3, shape).add(7, metadata).number(35, id);
}

Message buffer(std::uint64_t id, std::uint64_t size, std::uint64_t color, std::uint64_t instruction_id,
               const std::string& index = {}) {
  Message place, message;
  if (!index.empty()) place.text(3, index);
  place.number(4, instruction_id);
  return message.number(1, id).number(2, size).add(3, place).number(4, color);
}

struct Flags {
  bool is_parameter = false, maybe_live_out = false, is_thread_local = false;
};

Message allocation(std::uint64_t index, std::uint64_t size, std::uint64_t color, Flags flags,
                   const std::vector<std::array<std::uint64_t, 3>>& assigned) {
  Message message;
  message.number(1, index).number(2, size).number(8, color);
  if (flags.is_thread_local) message.number(3, 1);
  if (flags.is_parameter) message.number(5, 1);
  if (flags.maybe_live_out) message.number(7, 1);
  for (const auto& [id, offset, bytes] : assigned) {
    Message each;
    message.add(9, each.number(1, id).number(2, offset).number(3, bytes));
  }
  return message;
}

Message heap_trace(std::uint64_t index, const std::vector<std::array<std::uint64_t, 2>>& events) {
  Message trace;
  for (const auto& [kind, id] : events) {
    Message event;
    trace.add(1, event.number(1, kind).number(2, id));
  }
  return trace.number(3, index);
}

// Arguments 1 and 2 (2 is donated and is the output), temporaries a, b and c, of which a and c share a position, the
// table of a tuple, and a value in VMEM.
Message small_assignment() {
  Message assignment;
  assignment.add(1, buffer(1, 32 * kib, 0, 1)).add(1, buffer(2, 16 * kib, 0, 2)).add(1, buffer(3, 64 * kib, 0, 3));
  assignment.add(1, buffer(4, 32 * kib, 0, 4)).add(1, buffer(5, 64 * kib, 0, 5)).add(1, buffer(6, 512, 0, 6));
  assignment.add(1, buffer(7, 8 * kib, 1, 6, std::string(1, '\0'))).add(1, buffer(8, 512, 0, 7));
  assignment.add(3, allocation(0, 32 * kib, 0, {.is_parameter = true}, {{1, 0, 32 * kib}}));
  assignment.add(3, allocation(1, 16 * kib, 0, {.is_parameter = true, .maybe_live_out = true}, {{2, 0, 16 * kib}}));
  assignment.add(3, allocation(2, 112 * kib + 512, 0, {},
                               {{3, 0, 64 * kib}, {4, 64 * kib, 32 * kib}, {5, 0, 64 * kib}, {6, 112 * kib, 512}}));
  assignment.add(3, allocation(3, 8 * kib, 1, {}, {{7, 0, 8 * kib}}));
  assignment.add(3, allocation(4, 512, 0, {.is_thread_local = true}, {{8, 0, 512}}));
  assignment.add(4, heap_trace(2, {{0, 3}, {0, 4}, {1, 3}, {0, 5}, {1, 4}, {1, 5}}));
  return assignment.add(4, heap_trace(3, {{0, 7}, {1, 7}}));
}

std::string small_program() {
  Message computation, sequence, entry, schedule, module, tuple, proto;
  tuple.number(2, 13).add(4, array_shape(16, 1)).add(4, array_shape(32, 0));
  computation.text(1, "main").add(2, instruction("arg0", 1, array_shape(64, 0), ""));
  computation.add(2, instruction("arg1", 2, array_shape(32, 0), ""));
  computation.add(2, instruction("a", 3, array_shape(128, 0), "jit(step)/dot"));
  computation.add(2, instruction("b", 4, array_shape(64, 0), "jit(step)/add"));
  computation.add(2, instruction("c", 5, array_shape(128, 0), "jit(step)/mul"));
  computation.add(2, instruction("copy-start", 6, tuple, ""));
  computation.add(2, instruction("sum", 7, array_shape(1, 0), ""));
  sequence.text(1, std::string("\x01\x02\x03\x04\x05\x06", 6));
  schedule.add(1, entry.number(1, 9).add(2, sequence));
  module.text(1, "jit_step").text(2, "main").add(3, computation).number(6, 9).add(7, schedule);
  return proto.add(1, module).add(3, small_assignment()).bytes;
}

TEST(Hlo, a_message_adds_up_as_a_memory_analysis_does) {
  const Trace trace = program_trace(small_program());
  const auto program = find_program_memory(trace);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->name, "jit_step");
  EXPECT_EQ(program->argument_bytes, 48 * kib);
  EXPECT_EQ(program->output_bytes, 16 * kib);
  EXPECT_EQ(program->alias_bytes, 16 * kib);
  EXPECT_EQ(program->temp_bytes, 128 * kib);           // Whole pieces of 16 KiB.
  EXPECT_EQ(program->replayed_temp_bytes, 112 * kib);  // 64 + 32, and the table's.
  EXPECT_EQ(program->needed_without_code_bytes(), (48 + 128) * kib);
  ASSERT_EQ(program->by_space.size(), 2);
  EXPECT_EQ(program->by_space[0].name, "hbm");
  EXPECT_EQ(program->by_space[1].name, "vmem");
  EXPECT_EQ(program->by_space[1].bytes, 8 * kib);
  EXPECT_EQ(trace.import.count_of("thread_local_allocations"), 1);
  EXPECT_EQ(trace.import.count_of("unknown_buffers"), 0);
}

TEST(Hlo, values_live_as_the_compilers_simulator_has_it) {
  const Trace trace = program_trace(small_program());
  const Stream& stream = trace.streams.front();
  const auto rows = compute_heap_rows(trace, {stream.last_state()});
  EXPECT_EQ(rows[0].memory_kind, "hbm");
  EXPECT_EQ(rows[0].in_use_bytes, 48 * kib);  // Arguments stay.
  EXPECT_EQ(rows[0].peak_in_use_bytes, (48 + 96) * kib);
  EXPECT_EQ(rows[0].pool_bytes, (48 + 112) * kib + 512);
  EXPECT_EQ(rows[1].peak_in_use_bytes, 8 * kib);
  EXPECT_EQ(stream.last_state().problems().unknown_frees, 0);
  EXPECT_EQ(compute_event_counts(trace).alloc, 2 + 3 + 1);
}

TEST(Hlo, an_assignment_alone_has_no_names_and_the_same_sums) {
  Message assignment = small_assignment();
  const Trace trace = program_trace(assignment.bytes);
  const auto program = find_program_memory(trace);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->argument_bytes, 48 * kib);
  EXPECT_EQ(program->by_space[1].name, "vmem");
}

const std::string text_dump = R"(BufferAssignment:
allocation 0: size 32768, page 0, parameter 0, shape |f32[64,128]| at ShapeIndex {}:
 value: <1 arg0 @0> (size=32768,offset=0): f32[64,128]{1,0:T(8,128)}
allocation 1: size 16384, parameter 1, shape |f32[32,128]| at ShapeIndex {}, maybe-live-out:
 value: <2 arg1 @0> (size=16384,offset=0): f32[32,128]{1,0:T(8,128)}
 value: <9 out @0> (size=16384,offset=0): f32[32,128]{1,0:T(8,128)}
allocation 2: size 512, thread-local:
 value: <8 sum @0> (size=512,offset=0): f32[]{:T(128)}
allocation 3: size 512, constant:
 value: <5 c @0> (size=512,offset=0): f32[]{:T(128)}
allocation 4: size 115200, page 0, preallocated-temp:
 value: <3 a{0} @0> (size=65536,offset=0): f32[128,128]{1,0:T(8,128)}
 value: <4 a{} @0> (size=512,offset=114688): (f32[128,128]{1,0:T(8,128)}, u32[]{:S(2)})
allocation 5: size 8192, color 1, page 0, preallocated-temp:
 value: <7 v @1> (size=8192,offset=0): f32[16,128]{1,0:T(8,128)S(1)}

Total bytes used: 0 (0B)
allocation 6: of what follows nothing is read
)";

TEST(Hlo, the_text_is_read_with_and_without_pages) {
  const Trace trace = program_trace(text_dump);
  const auto program = find_program_memory(trace);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->argument_bytes, 49'152);
  EXPECT_EQ(program->output_bytes, 16'384);
  EXPECT_EQ(program->alias_bytes, 16'384);
  EXPECT_EQ(program->temp_bytes, 128 * kib);
  EXPECT_EQ(program->donatable_bytes, 0);      // The one output has an argument's place already.
  EXPECT_FALSE(program->replayed_temp_bytes);  // Their lifetimes are unknown.
  EXPECT_EQ(trace.import.count_of("arenas_without_times"), 1);
  EXPECT_EQ(trace.import.count_of("unknown_buffers"), 0);
}

TEST(Hlo, the_oldest_texts_have_an_address_before_the_size) {
  const Trace trace = program_trace(
      "BufferAssignment:\nallocation 0: 0x55d3a8b0, size 4096, parameter 0, shape |f32[1024]| at ShapeIndex {}:\n"
      " value: <1 x @0> (size=4096,offset=0): f32[1024]{0}\n"
      "allocation 1: 0x55d3a9c0, size 64, preallocated-temp:\n value: <2 t @0> (size=64,offset=0): f32[16]{0}\n\n"
      "Total bytes used: 4160 (4.1KiB)\n\nUsed values:\n<1 x @0>\n positions:\n  x\n uses:\n  t, operand 0\n");
  const auto program = find_program_memory(trace);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->argument_bytes, 4096);
  EXPECT_EQ(program->temp_bytes, 64);
}

TEST(Hlo, an_arena_of_tables_alone_counts_as_nothing_on_a_tpu) {
  const Trace trace = program_trace(
      "BufferAssignment:\nallocation 0: size 512, preallocated-temp:\n"
      " value: <4 copy-start{} @0> (size=512,offset=0): (f32[128,128]{1,0:T(8,128)}, u32[]{:S(2)})\n");
  EXPECT_EQ(find_program_memory(trace)->temp_bytes, 0);
  EXPECT_EQ(find_program_memory(trace)->replayed_temp_bytes, 0);
}

TEST(Hlo, an_output_as_large_as_a_kept_argument_could_take_its_place) {
  const Trace trace = program_trace(
      "BufferAssignment:\nallocation 0: size 4096, parameter 0:\nallocation 1: size 4096, maybe-live-out:\n"
      "allocation 2: size 4096, maybe-live-out:\nallocation 3: size 8192, parameter 1:\n");
  EXPECT_EQ(find_program_memory(trace)->donatable_bytes, 4096);  // One argument serves one output.
}

TEST(Hlo, sizes_on_other_devices_are_as_they_stand) {
  const Trace trace = program_trace(
      "BufferAssignment:\nallocation 0: size 1000, preallocated-temp:\n"
      " value: <4 dot @0> (size=1000,offset=0): f32[250]{0}\n");
  const auto program = find_program_memory(trace);
  EXPECT_EQ(program->temp_bytes, 1000);
  EXPECT_EQ(program->by_space.front().name, "device");
}

TEST(Hlo, what_no_memory_holds_is_counted_and_left_out) {
  const Trace trace = program_trace(
      "BufferAssignment:\nallocation 0: size 18446744073709551615, preallocated-temp:\n"
      "allocation 1: size 100, preallocated-temp:\n value: <4 dot @0> (size=200,offset=0): f32[50]{0}\n"
      " value: <5 dot.1 @0> (size=8,offset=18446744073709551615): f32[2]{0}\n");
  EXPECT_EQ(trace.import.count_of("impossible_sizes"), 3);
  EXPECT_EQ(find_program_memory(trace)->temp_bytes, 100);
}

const std::string text_report = R"(Memory Space: default (color=0)
Total bytes: 3146240 (3.00MiB)
  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
    1.00MiB( 50%);    1.00MiB;      1048576;                1; f32[512,512]
    2.00MiB(100%);    1.00MiB;            0;                2; 2xf32[512,512]

  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
    1.00MiB(100%);    1.00MiB;            0;                1; f32[512,512]


Memory Space: vmem (color=1)
Total bytes: 512 (512B)
  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
       512B(100%);       512B;            0;                1; f32[]
)";

TEST(Hlo, what_a_loop_fills_has_the_source_of_the_loop) {
  hlo::Program program;
  const auto add = [&](const char* instruction, std::uint32_t frame, std::uint64_t offset) {
    hlo::LogicalBuffer buffer;
    buffer.instruction = instruction;
    buffer.source_frame = frame;
    program.buffers.push_back(buffer);
    program.allocations[0].assigned.push_back({program.buffers.size() - 1, offset, 4096});
  };
  program.allocations.emplace_back();
  add("custom-call.1", 0, 0);                           // Made before the loop, by nobody's line,
  add("bitcast_dynamic-update-slice_fusion.10", 7, 0);  // filled in it,
  add("fusion.2", 9, 0);                                // and the place reused afterwards.
  add("custom-call.2", 0, 4096);                        // Nothing fills this one.
  add("fusion.3", 9, 4096);
  hlo::lend_sources(program);
  EXPECT_EQ(program.buffers[0].source_frame, 7U);
  EXPECT_EQ(program.buffers[2].source_frame, 9U);
  EXPECT_EQ(program.buffers[3].source_frame, 0U);
}

TEST(Hlo, an_event_of_another_arenas_buffer_takes_no_place) {
  Message assignment;
  assignment.add(1, buffer(1, 8 * kib, 0, 1)).add(1, buffer(2, 4 * kib, 0, 2));
  assignment.add(3, allocation(0, 4 * kib, 0, {}, {{2, 0, 4 * kib}}));
  assignment.add(3, allocation(1, 8 * kib, 0, {}, {{1, 0, 8 * kib}}));
  assignment.add(4, heap_trace(0, {{0, 1}}));  // Buffer 1 is in the other arena.
  const Trace trace = program_trace(assignment.bytes);
  EXPECT_EQ(trace.import.count_of("unplaced_buffers"), 1);
  EXPECT_EQ(compute_heap_rows(trace, compute_states(trace, *find_moment(trace, "end"))).at(0).in_use_bytes, 8 * kib);
}

// Each buffer has a copy of its instruction's names and its shape.
TEST(Hlo, a_long_tuple_is_read_once_and_its_texts_have_an_end) {
  constexpr std::uint64_t parts = 10'000, more = std::uint64_t{1} << 20;
  Message element, tuple, computation, module, assignment, proto;
  element.number(2, 4);
  tuple.number(2, 13);
  for (std::uint64_t i = 0; i < parts; ++i) tuple.add(4, element);
  computation.text(1, "main").add(2, instruction(std::string(more, 'a'), 1, tuple, std::string(more, 'b')));
  module.text(1, "jit_step").text(2, "main").add(3, computation);
  for (std::uint64_t i = 0; i < parts; ++i) {
    std::string index;
    for (std::uint64_t rest = i; rest > 0 || index.empty(); rest >>= 7)
      index += static_cast<char>((rest & 127) | (rest > 127 ? 128 : 0));
    assignment.add(1, buffer(2 * i, 8, 0, 1)).add(1, buffer(2 * i + 1, 4, 0, 1, index));
  }
  proto.add(1, module).add(3, assignment);
  const auto program = hlo::read_hlo_proto(bytes_of(proto.bytes), "dump");
  ASSERT_TRUE(program) << program.error().what;
  ASSERT_EQ(program->buffers.size(), 2 * parts);
  EXPECT_EQ(program->buffers.back().shape, "s32[]");
  EXPECT_EQ(program->buffers.back().index, "{9999}");
  const hlo::LogicalBuffer& whole = program->buffers.front();
  EXPECT_TRUE(whole.is_tuple);
  EXPECT_TRUE(whole.shape.starts_with("(s32[], s32[], ") && whole.shape.ends_with("...")) << whole.shape;
  EXPECT_LE(whole.shape.size() + whole.instruction.size() + whole.op_name.size(), 4096U);
}

TEST(Hlo, a_memory_usage_report_reports_spaces_and_no_kinds) {
  Message vmem, hbm, one, other, report;
  one.number(2, 2'097'664).number(3, 1).text(5, "fusion.1").text(5, "fusion.2").text(6, "table");
  other.number(1, 1).number(2, 1'048'576).text(5, "arg0");
  hbm.number(1, 3'146'240).add(3, one).add(3, other);
  vmem.number(1, 512).number(2, 1).add(3, Message().number(1, 2).number(2, 512).text(5, "copy"));
  report.add(1, hbm).add(1, vmem);
  for (const std::string& bytes : {text_report, report.bytes}) {
    const Trace trace = program_trace(bytes);
    const auto program = find_program_memory(trace);
    ASSERT_TRUE(program);
    EXPECT_FALSE(program->argument_bytes);
    EXPECT_FALSE(program->temp_bytes);
    ASSERT_EQ(program->by_space.size(), 2);
    EXPECT_EQ(program->by_space[0].name, "hbm");
    EXPECT_EQ(program->by_space[0].bytes, 3'146'240);
    EXPECT_EQ(program->by_space[1].bytes, 512);
    const auto rows = compute_heap_rows(trace, {trace.streams.front().last_state()});
    EXPECT_EQ(rows[0].live_blocks, bytes == text_report ? 3 : 2);  // 512 bytes are not in the text's rows.
    EXPECT_EQ(rows[0].in_use_bytes, 3'146'240);
    EXPECT_EQ(rows[1].in_use_bytes, 512);
    EXPECT_EQ(trace.import.count_of("kinds_not_told"), bytes == text_report ? 4 : 3);
  }
}

TEST(Hlo, a_text_may_be_cut_off_anywhere) {
  const std::string text =
      "BufferAssignment:\nallocation 5: size 8, color 1, preallocated-temp:\n value: <1 a{0} @1> (size=8,offset=0): "
      "u8[8]\n";
  std::size_t taken = 0;
  for (std::size_t bytes = 0; bytes <= text.size(); ++bytes)
    taken += hlo::read_buffer_assignment(bytes_of(text.substr(0, bytes)), "dump") ? 1 : 0;
  EXPECT_EQ(taken, text.size() - text.find(" 8,") - 1) << "from the size on";
}

TEST(Hlo, damage_is_said_and_others_are_refused) {
  const std::string whole = small_program();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);
    const auto trace = read_hlo(bytes_of(cut), "dump");
    if (trace) continue;
    EXPECT_FALSE(trace.error().what.empty());
    EXPECT_EQ(trace.error().file, "dump");
  }
  EXPECT_FALSE(read_hlo(bytes_of(std::string("BufferAssignment:\nallocation x\n")), "dump"));
  EXPECT_FALSE(read_hlo(bytes_of(std::string("BufferAssignment:\n")), "dump"));
  // A pprof profile begins with its value types.
  Message type, profile;
  profile.add(1, type.number(1, 5).number(2, 6)).number(9, 1);
  EXPECT_FALSE(looks_like_hlo(bytes_of(profile.bytes)));
  // And it may continue with its mappings.
  Message value, mapping, short_profile;
  short_profile.add(1, value.number(1, 5).number(2, 6)).add(3, mapping.number(1, 1).number(2, 4096));
  EXPECT_FALSE(looks_like_hlo(bytes_of(short_profile.bytes)));
}

std::vector<std::filesystem::path> real_programs() {
  const char* named = std::getenv("HBMSCOPE_DATA");
  const std::filesystem::path data = named != nullptr ? named : "../shared/data";
  std::vector<std::filesystem::path> programs;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data / "tpu/aot/programs", error))
    if (entry.path().filename() == "memory.json") programs.push_back(entry.path().parent_path());
  std::sort(programs.begin(), programs.end());
  return programs;
}

std::string inflated(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string packed{std::istreambuf_iterator<char>(file), {}};
  ImportStatistics import;
  const auto bytes = inflate_gzip(bytes_of(packed), path.string(), std::uint64_t{1} << 30, import);
  EXPECT_TRUE(bytes) << path;
  return {reinterpret_cast<const char*>(bytes->bytes().data()), bytes->bytes().size()};
}

constexpr const char* no_programs = "no programs in ../shared/data/tpu/aot/programs (HBMSCOPE_DATA names the folder)";

TEST(HloRecorded, programs_take_what_the_compiler_says) {
  const auto programs = real_programs();
  if (programs.empty()) GTEST_SKIP() << no_programs;
  for (const auto& folder : programs) {
    SCOPED_TRACE(folder.string());
    std::ifstream file(folder / "memory.json");
    const auto expected = nlohmann::json::parse(file);
    for (const char* name : {"hlo_with_buffer_assignment.hlo.pb.gz", "buffer-assignment.txt.gz"}) {
      const Trace trace = program_trace(inflated(folder / name));
      const auto program = find_program_memory(trace);
      ASSERT_TRUE(program);
      EXPECT_EQ(program->argument_bytes, expected["argument_size_in_bytes"]) << name;
      EXPECT_EQ(program->output_bytes, expected["output_size_in_bytes"]) << name;
      EXPECT_EQ(program->alias_bytes, expected["alias_size_in_bytes"]) << name;
      EXPECT_EQ(program->temp_bytes, expected["temp_size_in_bytes"]) << name;
      EXPECT_EQ(trace.import.count_of("unknown_buffers"), 0);
      EXPECT_EQ(trace.streams.front().last_state().problems().unknown_frees, 0);
      const auto rows = compute_heap_rows(trace, {trace.streams.front().last_state()});
      for (const HeapRow& row : rows) EXPECT_LE(row.peak_in_use_bytes, row.pool_bytes.value_or(0)) << row.name;
    }
  }
}

TEST(HloRecorded, usage_reports_agree_with_assignments) {
  const auto programs = real_programs();
  if (programs.empty()) GTEST_SKIP() << no_programs;
  for (const auto& folder : programs) {
    SCOPED_TRACE(folder.string());
    const Trace assignment = program_trace(inflated(folder / "buffer-assignment.txt.gz"));
    const Trace text = program_trace(inflated(folder / "memory-usage-report.txt.gz"));
    const Trace message = program_trace(inflated(folder / "memory-usage-report.pb.gz"));
    const auto reported = find_program_memory(text), exact = find_program_memory(message);
    ASSERT_TRUE(reported && exact);
    const auto spaces = find_program_memory(assignment)->by_space;
    for (const auto* row : {&*reported, &*exact}) {
      ASSERT_FALSE(row->by_space.empty());
      EXPECT_EQ(row->by_space.front().name, "hbm");
      // Thread-local memory is in the report's total.
      EXPECT_GE(row->by_space.front().bytes, spaces.front().bytes);
      EXPECT_LE(row->by_space.front().bytes, spaces.front().bytes + 64 * kib);
    }
    const auto rows = compute_heap_rows(message, {message.streams.front().last_state()});
    EXPECT_EQ(rows.front().in_use_bytes, exact->by_space.front().bytes);
  }
}

TEST(HloRecorded, packing_anew_gives_the_compilers_temporaries_or_a_named_difference) {
  const auto programs = real_programs();
  if (programs.empty()) GTEST_SKIP() << no_programs;
  std::map<std::string, std::pair<int, int>> exact;  // By generation: exact, all.
  std::printf("%14s %14s %12s %8s  program\n", "compiler", "packed anew", "difference", "percent");
  for (const auto& folder : programs) {
    const Trace trace = program_trace(inflated(folder / "hlo_with_buffer_assignment.hlo.pb.gz"));
    const auto program = find_program_memory(trace);
    ASSERT_TRUE(program && program->replayed_temp_bytes) << folder;
    const auto reported = static_cast<double>(*program->temp_bytes);
    const double difference = static_cast<double>(*program->replayed_temp_bytes) - reported;
    const std::string generation = folder.parent_path().filename().string();
    auto& [same, all] = exact[generation];
    ++all;
    if (difference == 0) ++same;
    std::printf("%14.0f %14.0f %12.0f %7.2f%%  %s/%s\n", reported, reported + difference, difference,
                reported == 0 ? 0 : difference / reported * 100, generation.c_str(), folder.filename().c_str());
    // XLA's published algorithm should not be worse than the compiler's by more than its tables.
    EXPECT_LE(difference, reported * 0.05) << folder;
    EXPECT_GE(difference, -reported * 0.25) << folder;
  }
  for (const auto& [generation, counts] : exact)
    EXPECT_GE(counts.first * 3, counts.second) << generation << ": a third at the least";
}

TEST(HloRecorded, the_weights_of_a_chain_of_products_alternate_between_two_places_of_vmem) {
  const auto programs = real_programs();
  std::size_t chains = 0;
  for (const auto& folder : programs) {
    if (folder.filename() != "matmul_chain") continue;
    ++chains;
    const Trace trace = program_trace(inflated(folder / "hlo_with_buffer_assignment.hlo.pb.gz"));
    const Stream& stream = trace.streams.front();
    std::map<std::uint64_t, int> places;  // The positions of prefetched weights, and how often each was used.
    StreamState state;
    std::uint64_t last = ~std::uint64_t{0};
    int repeats = 0;
    for (std::uint64_t position = 0; position <= stream.end_position(); ++position) {
      stream.advance(state, position);
      for (const LiveBlock& block : state.slots()) {
        if (!block.is_live() || block.event + 1 != position) continue;
        const std::string_view tag = stream.definitions().text(block.tag);
        if (stream.definitions().heap(block.heap).memory_kind != "vmem" || !tag.starts_with("copy-start")) continue;
        ++places[block.address];
        if (block.address == last) ++repeats;
        last = block.address;
      }
    }
    EXPECT_GE(places.size(), 2) << folder;
    EXPECT_LE(repeats, 1) << folder;
  }
  if (chains == 0) GTEST_SKIP() << no_programs;
}

}  // namespace
}  // namespace hbmscope
