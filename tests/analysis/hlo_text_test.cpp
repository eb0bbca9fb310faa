// The text of HLO modules: what is live when, by shapes alone. Small modules of our own, and the compiler's programs of
// the folder of data beside their buffer assignments.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "analysis/query/heap_rows.h"
#include "analysis/query/program_memory.h"
#include "analysis/read/file_bytes.h"
#include "analysis/read/gzip.h"
#include "analysis/read/hlo/hlo_text.h"
#include "analysis/read/hlo/live_values.h"
#include "analysis/read/hlo/read_hlo.h"
#include "analysis/read/source/read_source.h"
#include "tests/analysis/text_bytes.h"

namespace hbmscope {
namespace {

using hlo::ValueKind;

// A donated argument, a constant, a loop that carries one value through unchanged and updates another in place.
const std::string loop_module = R"(HloModule jit_step, is_scheduled=true, input_output_alias={ {0}: (1, {}, may-alias) }

FileNames
1 "/home/me/train.py"

FunctionNames
1 "<module>"
2 "step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=40 end_line=40 column=2 end_column=16}
2 {file_name_id=1 function_name_id=2 line=7 end_line=7 column=4 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}


%update (p.0: f32[4,256], p.1: f32[256], p.2: s32[]) -> f32[4,256] {
  %p.0 = f32[4,256]{1,0} parameter(0)
  %p.1 = f32[256]{0} parameter(1)
  %p.2 = s32[] parameter(2)
  %row = f32[1,256]{1,0} bitcast(%p.1)
  ROOT %put = f32[4,256]{1,0} dynamic-update-slice(%p.0, %row, %p.2, %p.2)
}

%body (c: (s32[], f32[4,256], f32[256])) -> (s32[], f32[4,256], f32[256]) {
  %c = (s32[], f32[4,256]{1,0}, /*index=2*/f32[256]{0}) parameter(0)
  %i = s32[] get-tuple-element(%c), index=0
  %rows = f32[4,256]{1,0} get-tuple-element(%c), index=1
  %x = f32[256]{0} get-tuple-element(%c), index=2
  %one = s32[] constant(1)
  %twice = f32[256]{0} multiply(%x, %x), metadata={op_name="jit(step)/while/body/mul" stack_frame_id=2}
  %rows.1 = f32[4,256]{1,0} fusion(%rows, %twice, %i), kind=kLoop, calls=%update
  %i.1 = s32[] add(%i, %one)
  ROOT %next = (s32[], f32[4,256]{1,0}, f32[256]{0}) tuple(%i.1, %rows.1, %x)
}

%condition (d: (s32[], f32[4,256], f32[256])) -> pred[] {
  %d = (s32[], f32[4,256]{1,0}, f32[256]{0}) parameter(0)
  %j = s32[] get-tuple-element(%d), index=0
  %four = s32[] constant(4)
  ROOT %less = pred[] compare(%j, %four), direction=LT
}

ENTRY %main (a: f32[256], w: f32[256]) -> (f32[256], f32[4,256]) {
  %a = f32[256]{0} parameter(0), metadata={op_name="a"}
  %w = f32[256]{0} parameter(1), metadata={op_name="w[\'b\']" source_file="/home/me/train.py" source_line=3}
  %zero = s32[] constant(0)
  %start = s32[] copy(%zero)
  %empty = f32[4,256]{1,0} broadcast(%zero), dimensions={}
  %sum = f32[256]{0} add(%a, %w)
  %first = (s32[], f32[4,256]{1,0}, f32[256]{0}) tuple(%start, %empty, %sum)
  %loop = (s32[], f32[4,256]{1,0}, f32[256]{0}) while(%first), condition=%condition, body=%body
  %done = f32[4,256]{1,0} get-tuple-element(%loop), index=1
  %big = f32[4,256]{1,0} negate(%done)
  %w.1 = f32[256]{0} subtract(%w, %a)
  ROOT %out = (f32[256]{0}, f32[4,256]{1,0}) tuple(%w.1, %big)
}
)";

struct Read {
  hlo::TextModule module;
  hlo::LiveProgram program;

  // The only value that the instruction makes, or one part of it.
  const hlo::LiveValue* find(std::string_view name, const std::string& index = {}) const {
    for (const hlo::LiveValue& value : program.values)
      if (module.instructions[value.instruction].name == name && hlo::text_from_index(module, value) == index)
        return &value;
    return nullptr;
  }
};

Read live_values_of(const std::string& text) {
  auto module = hlo::read_hlo_text(bytes_of(text), "text");
  EXPECT_TRUE(module) << module.error().text();
  Read read{std::move(*module), {}};
  read.program = hlo::compute_live_values(read.module);
  return read;
}

// The lines of a scheduled module's only computation.
std::string entry_of(const std::string& lines, const std::string& head = "HloModule m, is_scheduled=true") {
  return head + "\n\nENTRY %main () -> f32[] {\n" + lines + "}\n";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

void expect_live(const hlo::LiveValue* value, ValueKind kind, std::uint64_t bytes, std::uint64_t begin,
                 std::uint64_t end) {
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(value->kind, kind);
  EXPECT_EQ(value->bytes, bytes);
  EXPECT_EQ(value->begin, begin);
  EXPECT_EQ(value->end, end);
}

TEST(HloText, arguments_outputs_and_donation_are_those_of_the_shapes) {
  const Read read = live_values_of(loop_module);
  EXPECT_EQ(read.module.name, "jit_step");
  EXPECT_TRUE(read.module.is_scheduled);
  EXPECT_EQ(read.program.argument_bytes, 2048U);
  EXPECT_EQ(read.program.output_bytes, 1024U + 4096 + 16);  // And the table of two pointers.
  EXPECT_EQ(read.program.alias_bytes, 1024U);
  EXPECT_EQ(read.program.instructions, 25U);
  expect_live(read.find("a"), ValueKind::argument, 1024, 0, 24);
  expect_live(read.find("w"), ValueKind::aliased_argument, 1024, 0, 24);
  expect_live(read.find("big"), ValueKind::output, 4096, 0, 24);
  expect_live(read.find("zero"), ValueKind::constant, 4, 0, 24);
  EXPECT_EQ(read.find("w.1"), nullptr);  // In the memory of w.
}

TEST(HloText, a_loop_carries_values_in_the_memory_in_which_they_began) {
  const Read read = live_values_of(loop_module);
  // Instructions 0 to 6 are those before the loop, 7 to 10 its condition, 11 to 19 its body, 20 the loop itself.
  expect_live(read.find("sum"), ValueKind::temporary, 1024, 5, 20);    // Unchanged from round to round.
  expect_live(read.find("empty"), ValueKind::temporary, 4096, 4, 22);  // Until `big` reads it.
  expect_live(read.find("twice"), ValueKind::temporary, 1024, 16, 17);
  EXPECT_EQ(read.find("rows.1"), nullptr);
  EXPECT_EQ(hlo::compute_peak_bytes(read.program, 0), 4096U + 1024 + 1024 + 4);
}

TEST(HloText, without_a_schedule_nothing_is_in_place) {
  const Read read = live_values_of(replaced(loop_module, ", is_scheduled=true", ""));
  EXPECT_FALSE(read.module.is_scheduled);
  expect_live(read.find("rows.1"), ValueKind::temporary, 4096, 17, 20);
  const auto trace = read_hlo(bytes_of(replaced(loop_module, ", is_scheduled=true", "")), "text");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->import.count_of("not_scheduled"), 1);
  EXPECT_FALSE(find_program_memory(*trace)->is_scheduled);
}

TEST(HloText, names_without_signs_and_operands_with_shapes_are_the_same_module) {
  const Read read = live_values_of(loop_module);
  std::string other = replaced(loop_module, "%", "");
  other = replaced(other, "multiply(x, x)", "multiply(f32[256]{0} x, f32[256]{0} %x)");
  other = replaced(other, "ENTRY main (a: f32[256], w: f32[256]) -> (f32[256], f32[4,256]) {", "ENTRY main {\r");
  const Read same = live_values_of(other);
  ASSERT_EQ(read.program.values.size(), same.program.values.size());
  for (std::size_t i = 0; i < read.program.values.size(); ++i) {
    EXPECT_EQ(read.program.values[i].begin, same.program.values[i].begin);
    EXPECT_EQ(read.program.values[i].end, same.program.values[i].end);
    EXPECT_EQ(read.program.values[i].bytes, same.program.values[i].bytes);
  }
  EXPECT_EQ(same.module.unknown_operands, 0U);
}

TEST(HloText, comments_say_nothing) {
  const std::string commented =
      "// made by a script {\n\n  // of = f32[4]\n" + replaced(loop_module, "%i = ", "// one = more {\n  %i = ");
  EXPECT_TRUE(hlo::looks_like_hlo_text(bytes_of(commented)));
  EXPECT_FALSE(hlo::looks_like_hlo_text(bytes_of("// HloModule m\nint main() {}\n")));
  const Read read = live_values_of(loop_module), same = live_values_of(commented);
  EXPECT_EQ(read.module.name, same.module.name);
  EXPECT_EQ(read.program.instructions, same.program.instructions);
  EXPECT_EQ(read.program.values.size(), same.program.values.size());
}

TEST(HloText, sizes_have_the_tiles_the_packing_and_the_space_of_the_layout) {
  const Read read =
      live_values_of(entry_of("  %a = f32[9,100]{1,0:T(8,128)} parameter(0)\n  %b = s4[3,5]{1,0:E(4)} parameter(1)\n"
                              "  %c = pred[7]{0} parameter(2)\n  %d = token[] after-all()\n"
                              "  %v = bf16[8,128]{1,0:T(8,128)(2,1)S(1)} copy(%a)\n  %z = mystery[4]{0} copy(%c)\n"
                              "  ROOT %r = f32[]{:T(128)} reduce(%v, %z)\n"));
  EXPECT_TRUE(read.program.is_tpu);
  EXPECT_EQ(read.find("a")->bytes, 16U * 128 * 4);
  EXPECT_EQ(read.find("b")->bytes, 8U);
  EXPECT_EQ(read.find("c")->bytes, 7U);
  EXPECT_EQ(read.find("d"), nullptr);
  EXPECT_EQ(read.find("v")->bytes, 2048U);
  EXPECT_EQ(read.find("v")->space, 1U);
  EXPECT_EQ(read.find("r")->bytes, 512U);
  EXPECT_EQ(read.program.unknown_shapes, 1U);
  EXPECT_EQ(hlo::compute_peak_bytes(read.program, 1), 2048U);
}

TEST(HloText, a_copy_in_the_background_keeps_its_source_until_it_is_done) {
  const Read read =
      live_values_of(entry_of("  %a = f32[256]{0} parameter(0)\n  %b = f32[256]{0} negate(%a)\n"
                              "  %s = (f32[256]{0:S(1)}, f32[256]{0}, u32[]{:S(2)}) copy-start(%b)\n"
                              "  %x = f32[64]{0} iota()\n  %y = f32[64]{0} negate(%x)\n"
                              "  %d = f32[256]{0:S(1)} copy-done(%s)\n  ROOT %r = f32[] dot(%d, %y)\n"));
  expect_live(read.find("b"), ValueKind::temporary, 1024, 1, 5);
  expect_live(read.find("s", "{0}"), ValueKind::temporary, 1024, 2, 6);
  expect_live(read.find("s", "{2}"), ValueKind::temporary, 4, 2, 5);
  EXPECT_EQ(read.find("s", "{1}"), nullptr);
  EXPECT_EQ(read.find("d"), nullptr);
}

TEST(HloText, branches_end_in_one_memory_and_do_not_run_at_the_same_time) {
  const std::string branch =
      "%NAME (p: f32[256]) -> f32[256] {\n  %p = f32[256]{0} parameter(0)\n  %t = f32[256]{0} negate(%p)\n"
      "  ROOT %u = f32[256]{0} negate(%t)\n}\n\n";
  const Read read = live_values_of(
      "HloModule m, is_scheduled=true\n\n" + replaced(branch, "NAME", "one") + replaced(branch, "NAME", "two") +
      "ENTRY %main (a: f32[256], b: pred[]) -> f32[] {\n  %a = f32[256]{0} parameter(0)\n  %b = pred[] parameter(1)\n"
      "  %s = f32[256]{0} negate(%a)\n"
      "  %c = f32[256]{0} conditional(%b, %s, %s), true_computation=%one, false_computation=%two\n"
      "  ROOT %r = f32[] reduce(%c)\n}\n");
  // 3 to 5 are the first branch, 6 to 8 the second; `s` is needed by both.
  expect_live(read.find("s"), ValueKind::temporary, 1024, 2, 7);
  EXPECT_EQ(hlo::compute_peak_bytes(read.program, 0), 3U * 1024);
}

TEST(HloText, listed_aliases_of_outputs_and_operands_share_memory) {
  const std::string lines =
      "  %a = f32[256]{0} parameter(0)\n  %b = f32[256]{0} negate(%a)\n"
      "  %k = (f32[256]{0}, f32[64]{0}) custom-call(%a, %b), custom_call_target=\"f(\\\"x\", "
      "output_to_operand_aliasing={{0}: (1, {})}\n  %g = f32[256]{0} get-tuple-element(%k), index=0\n"
      "  ROOT %r = f32[] reduce(%g)\n";
  const Read read = live_values_of(entry_of(lines));
  expect_live(read.find("b"), ValueKind::temporary, 1024, 1, 4);
  EXPECT_EQ(read.find("k", "{0}"), nullptr);
  expect_live(read.find("k", "{1}"), ValueKind::temporary, 256, 2, 2);
}

TEST(HloText, opens_as_heaps_without_addresses_with_the_lines_of_the_source) {
  const auto source = read_text_source("\n" + loop_module, "pasted");
  ASSERT_TRUE(source) << source.error().text();
  const auto program = find_program_memory(*source->trace);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->name, "jit_step");
  EXPECT_FALSE(program->temp_bytes);
  EXPECT_EQ(program->live_temp_bytes, 4096U + 1024 + 1024 + 4);
  EXPECT_EQ(program->roughly_needed_bytes(), 2048U + 5136 - 1024 + 6148);
  EXPECT_FALSE(program->needed_without_code_bytes());
  const auto rows = compute_heap_rows(*source->trace, source->states);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].in_use_bytes, 2048U + 4096 + 16 + 3 * 4);
  EXPECT_EQ(rows[0].peak_in_use_bytes, rows[0].in_use_bytes + 6148U);
  const Stream& stream = source->trace->streams.front();
  EXPECT_EQ(stream.last_state().problems().total(), 0U);
  bool has_line = false;
  for (const hlo::SourceFrame& frame : live_values_of(loop_module).module.source.frames)
    has_line = has_line || (frame.line == 7 && frame.caller == 1);
  EXPECT_TRUE(has_line);
}

TEST(HloText, what_is_wrong_has_a_line_and_a_byte) {
  const auto error_of = [](const std::string& text) {
    const auto read = hlo::read_hlo_text(bytes_of(text), "text");
    return read ? std::string("no error") : read.error().text();
  };
  EXPECT_EQ(error_of("HloModule m\n\n%a () -> f32[] {\n  ROOT %x = f32[] constant(0)\n}\n"),
            "text: byte 62: line 5: there is no entry computation in this HLO text. Was the text copied whole?");
  EXPECT_EQ(error_of("HloModule m\n\nENTRY %a () -> f32[] {\n  %x = f32[] constant(0)\n"),
            "text: byte 61: line 4: the computation a is not closed. Was the text copied whole?");
  EXPECT_EQ(error_of("HloModule m\n\nENTRY %a () -> f32[] {\n  %x = f32[\n}\n"),
            "text: byte 36: line 4: the instruction x has no shape, or no operation. Was the text copied whole?");
}

TEST(HloText, every_part_of_a_module_is_read_or_refused) {
  for (std::size_t length = 0; length <= loop_module.size(); ++length)
    if (const auto trace = read_hlo(bytes_of(loop_module.substr(0, length)), "text")) {
      EXPECT_EQ(trace->streams.front().last_state().problems().total(), 0U);
    }
  for (std::size_t at = 300; at + 1 < loop_module.size(); ++at) {
    const auto trace = read_hlo(bytes_of(loop_module.substr(0, at) + loop_module.substr(at + 1)), "text");
    if (trace) {
      EXPECT_EQ(trace->streams.front().last_state().problems().total(), 0U);
    }
  }
}

// The text of live ranges lists the instructions in XLA's order: "    7:copy.5".
TEST(HloText, instructions_run_in_the_order_of_the_compilers_live_ranges) {
  const char* named = std::getenv("HBMSCOPE_DATA");
  const std::filesystem::path data =
      std::filesystem::path(named != nullptr ? named : "../shared/data") / "tpu/aot/programs";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no programs in " << data << " (HBMSCOPE_DATA names the folder)";
  int programs = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    if (entry.path().filename() != "live-range.txt.gz") continue;
    SCOPED_TRACE(entry.path().string());
    const auto unzipped = [](const std::filesystem::path& path) {
      const auto file = read_file(path.string(), std::uint64_t{1} << 30);
      ImportStatistics unused;
      const auto bytes = unzip(file->bytes(), path.string(), std::uint64_t{1} << 30, unused);
      return std::string(bytes->bytes.begin(), bytes->bytes.end());
    };
    const std::string ranges = unzipped(entry.path());
    const std::string text = unzipped(entry.path().parent_path() / "hlo.txt.gz");
    const Read read = live_values_of(text);
    ++programs;
    // Numbers differ: XLA counts the instructions of computations that run in the background, which no text has.
    std::size_t last = 0;
    for (const hlo::LiveValue& value : read.program.values) {
      if (value.kind != ValueKind::temporary || !hlo::text_from_index(read.module, value).empty()) continue;
      const std::string name(read.module.instructions[value.instruction].name);
      const std::size_t found = ranges.find(":" + name + "\n");
      ASSERT_NE(found, std::string::npos) << name;
      EXPECT_GT(found, last) << name;
      last = found;
    }
  }
  EXPECT_GT(programs, 0);
}

TEST(HloText, of_the_compiler_agrees_with_its_buffer_assignment) {
  const char* named = std::getenv("HBMSCOPE_DATA");
  const std::filesystem::path data = named != nullptr ? named : "../shared/data";
  std::map<std::string, std::string> pairs;  // Text and assignment.
  if (std::filesystem::exists(data / "tpu/aot/programs"))
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data / "tpu/aot/programs"))
      if (entry.path().filename() == "hlo.txt.gz")
        pairs[entry.path().string()] = (entry.path().parent_path() / "hlo_with_buffer_assignment.hlo.pb.gz").string();
  if (std::filesystem::exists(data / "jax/hlo"))
    for (const std::string name : {"small", "large"})
      pairs[(data / "jax/hlo" / (name + ".cpu_after_optimizations.txt.gz")).string()] =
          (data / "jax/hlo" / (name + ".cpu_after_optimizations.hlo.pb.gz")).string();
  if (pairs.empty()) GTEST_SKIP() << "no programs in " << data << " (HBMSCOPE_DATA names the folder)";
  const auto number = [](std::optional<std::uint64_t> bytes) { return static_cast<double>(bytes.value_or(0)); };
  int close = 0;
  for (const auto& [text, assignment] : pairs) {
    SCOPED_TRACE(text);
    const auto by_shapes = read_source(text, {}), by_compiler = read_source(assignment, {});
    ASSERT_TRUE(by_shapes && by_compiler);
    const auto found = find_program_memory(*by_shapes->trace), expected = find_program_memory(*by_compiler->trace);
    ASSERT_TRUE(found && expected);
    EXPECT_EQ(found->name, expected->name);
    EXPECT_EQ(found->argument_bytes, expected->argument_bytes);
    EXPECT_EQ(found->alias_bytes, expected->alias_bytes);
    // Only the table of pointers differs: 512 bytes on v5e.
    EXPECT_NEAR(number(found->output_bytes), number(expected->output_bytes), 512);
    // The arena has less where results overwrite operands, and more where it has gaps.
    const double live = number(found->live_temp_bytes), arena = number(expected->temp_bytes);
    EXPECT_LT(live, arena * 1.6 + 65536);
    EXPECT_GT(live, arena * 0.8 - 131072);
    close += std::abs(live - arena) < arena * 0.01 + 65536 ? 1 : 0;
  }
  EXPECT_GE(close * 3, static_cast<int>(pairs.size()) * 2);
}

}  // namespace
}  // namespace hbmscope
