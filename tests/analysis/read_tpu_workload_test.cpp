// Workload files: formulas, loops, errors and their positions; and an emulation's error texts, read back by the reader
// of real ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "allocator/emulated/tpu/emulation/emulation.h"
#include "analysis/query/failure_facts.h"
#include "analysis/query/heap_rows.h"
#include "analysis/query/program_memory.h"
#include "analysis/read/tpu_oom/read_tpu_oom.h"
#include "analysis/read/tpu_oom/tpu_report.h"
#include "analysis/read/tpu_workload/json_node.h"
#include "analysis/read/tpu_workload/read_tpu_workload.h"
#include "analysis/read/tpu_workload/trace_from_emulation.h"
#include "tests/analysis/text_bytes.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

namespace tpu = allocator::tpu;

Result<tpu::Workload> workload_from(const std::string& text, const std::vector<WorkloadChange>& changes = {}) {
  return read_tpu_workload(bytes_of(text), "w.json", changes);
}

std::string fault_of(const std::string& text, const std::vector<WorkloadChange>& changes = {}) {
  const auto workload = workload_from(text, changes);
  return workload ? "no fault" : workload.error().what;
}

std::string file_with(const std::string& rest) {
  return "{\"hbmscope_tpu_workload\": 1,\n" + rest + "}";
}

TEST(TpuWorkloadFormula, numbers_names_and_brackets) {
  const tpu_workload::Variables variables{{"a", 6}, {"b", 4}, {"a", 7}};
  const auto value_of = [&](const char* text) { return *tpu_workload::compute_expression(text, variables); };
  EXPECT_EQ(value_of("a"), 7) << "the inner one counts";
  EXPECT_EQ(value_of("2 + 3*b"), 14);
  EXPECT_EQ(value_of("(2+3) * -b"), -20);
  EXPECT_EQ(value_of("a / b + a % b"), 4);
  EXPECT_EQ(value_of("ceil(a, b) + min(a, b) + max(a, b)"), 13);
  EXPECT_EQ(value_of("a % 2 == 1"), 1);
  EXPECT_EQ(value_of("a < b"), 0);
  EXPECT_EQ(*tpu_workload::fill_in("kv{a-1}.{b}", variables), "kv6.4");
}

TEST(TpuWorkloadFormula, what_is_none_is_refused) {
  for (const char* text : {"", "1 +", "c", "1 / 0", "5 % (2 - 2)", "(1", "1 2", "9223372036854775807", "min(1)",
                           "f(1, 2)", "1 << 2", "99999999999 * 99999999999"})
    EXPECT_FALSE(tpu_workload::compute_expression(text, {})) << text;
  EXPECT_FALSE(tpu_workload::compute_expression(std::string(1000, '('), {}));
  EXPECT_FALSE(tpu_workload::compute_expression(std::string(100000, '-') + "1", {}));
  EXPECT_FALSE(tpu_workload::fill_in("a{1", {}));
}

TEST(TpuWorkloadJson, a_place_has_a_line) {
  const std::string text = "// one\n{\"a\": [1, {\"b\\\"\": \"{[,\"},\n {\"c\": [\n2, 3]}],\n \"d\": /* x \n */ 4}";
  EXPECT_EQ(tpu_workload::find_line(text, {"a"}), 2);
  EXPECT_EQ(tpu_workload::find_line(text, {"a", "[2]"}), 3);
  EXPECT_EQ(tpu_workload::find_line(text, {"a", "[2]", "c", "[1]"}), 4);
  EXPECT_EQ(tpu_workload::find_line(text, {"d"}), 6);
  EXPECT_EQ(tpu_workload::find_line(text, {"missing"}), 2);
}

TEST(TpuWorkload, says_what_is_wrong_and_where) {
  EXPECT_EQ(fault_of("{\n\n,"), "line 3: this is not JSON");
  EXPECT_EQ(fault_of(file_with("\"stepz\": []")), "line 2 (stepz): there is no key 'stepz' here");
  EXPECT_EQ(fault_of(file_with("\"name\": \"x\"")), "line 1: 'steps' is missing");
  EXPECT_EQ(
      fault_of(file_with("\"arrays\": {\"w\": {\"dtype\": \"f33\",\n\"shape\": [1]}},\n\"steps\": [{\"put\": \"w\"}]")),
      "line 2 (arrays.w.dtype): there is no element type 'f33'");
  EXPECT_EQ(fault_of(file_with(
                "\"arrays\": {\"w\": {\"dtype\": \"f32\",\n\"shape\": [\"n\"]}},\n\"steps\": [{\"put\": \"w\"}]")),
            "line 3 (arrays.w.shape[0]): 'n': there is no parameter 'n'");
  EXPECT_EQ(fault_of(file_with("\"steps\": [{\"put\": \"w\"},\n{\"free\": \"v\"}]")),
            "line 2 (steps[0].put): there is no array 'w'");
  EXPECT_EQ(fault_of(file_with("\"steps\": [{\"free\": \"v\"}]")),
            "line 2 (steps[0].free): 'v' was never put on the device");
  EXPECT_EQ(
      fault_of(file_with("\"mesh\": {\"x\": 8}, \"arrays\": {\"w\": {\"dtype\": \"f32\", \"shape\": [10, 4], "
                         "\"sharding\": [\"x\"]}}, \"steps\": [{\"put\": \"w\"}]")),
      "line 2 (arrays.w): jax refuses this sharding: the global size of its dimension 0 should be divisible by 8, "
      "but it is equal to 10 (full shape: f32[10,4])");
  EXPECT_EQ(fault_of(file_with("\"steps\": []"), {{"layers", "3"}}), "the workload has no 'layers' to change");
  EXPECT_EQ(fault_of(file_with("\"steps\": []"), {{"checkpointing", "much"}}),
            "there is no checkpointing 'much': none, dots, full or offload");
  EXPECT_EQ(fault_of(file_with("\"vmem\": {\"picker\": \"best\"}, \"steps\": []")),
            "line 2 (vmem.picker): there is no picker 'best': cost or count");
  EXPECT_EQ(fault_of(file_with("\"vmem\": {\"repacks_max\": 5000}, \"steps\": []")),
            "line 2 (vmem.repacks_max): this is too many");
  EXPECT_EQ(fault_of(file_with("\"steps\": []"), {{"vmem.assignment", "maybe"}}),
            "'maybe' is not on or off, for vmem.assignment");
  EXPECT_EQ(fault_of(file_with("\"generation\": \"8t\", \"steps\": []")),
            "line 2 (generation): only the memories of TPU 8t are published, not its layouts and limits");
  EXPECT_EQ(fault_of(file_with("\"steps\": [{\"for\": {\"i\": 2000000}, \"mark\": \"x\"}]")),
            "line 2 (steps[0].for.i): a loop of 2000000 turns");
}

TEST(TpuWorkload, options_of_vmem_are_of_the_file_or_a_change) {
  const std::string text = file_with(
      "\"parameters\": {\"n\": 3}, \"vmem\": {\"assignment\": true, \"reserved_bytes\": \"n * 1024\", "
      "\"prefetches_max\": 7, "
      "\"cross_program_prefetch\": false}, \"steps\": []");
  const auto written = workload_from(text);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->options.assigns_vmem, true);
  EXPECT_EQ(written->options.vmem.reserved_bytes, 3072);
  EXPECT_EQ(written->options.vmem.prefetches_max, 7);
  EXPECT_FALSE(written->options.vmem.evictions_max);
  EXPECT_FALSE(written->options.vmem.prefetches_across_programs);
  const auto changed = workload_from(text, {{"vmem.assignment", "off"},
                                            {"vmem.picker", "count"},
                                            {"vmem.prefetches_max", "2"},
                                            {"vmem.evictions_max", "0"},
                                            {"vmem.residency_percent", "400"}});
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->options.assigns_vmem, false);
  EXPECT_EQ(changed->options.vmem.picker, tpu::IntervalPicker::operation_count);
  EXPECT_EQ(changed->options.vmem.prefetches_max, 2);
  EXPECT_EQ(changed->options.vmem.evictions_max, 0);
  EXPECT_EQ(changed->options.vmem.residency_percent, 400);
  EXPECT_FALSE(workload_from(file_with("\"steps\": []"))->options.assigns_vmem);
}

TEST(TpuWorkload, weights_are_the_arguments_that_may_stay) {
  const auto with = [](const std::string& rest) {
    return file_with(
        "\"arrays\": {\"a\": {\"dtype\": \"f32\", \"shape\": [8]}, \"b\": {\"dtype\": \"f32\", \"shape\": [8]}},\n"
        "\"programs\": {\"p\": {\"arguments\": [\"a\", \"b\"], \"operations\": []" +
        rest + "}}, \"steps\": []");
  };
  const auto stays = [](const Result<tpu::Workload>& workload) {
    return std::vector<bool>{workload->programs[0].values[0].may_stay, workload->programs[0].values[1].may_stay};
  };
  EXPECT_EQ(stays(workload_from(with(""))), (std::vector<bool>{true, true}));
  EXPECT_EQ(stays(workload_from(with(", \"weights\": [\"b\"]"))), (std::vector<bool>{false, true}));
  EXPECT_EQ(stays(workload_from(with(", \"weights\": []"))), (std::vector<bool>{false, false}));
  EXPECT_EQ(fault_of(with(", \"weights\": [\"c\"]")), "line 3 (programs.p.weights[0]): 'c' is no argument");
}

// Two matrices through one product, its figures by the parameters n (rows) and code.
const std::string product = file_with(R"(
  "name": "product", "parameters": {"n": 1024, "code": 0},
  "arrays": {"x": {"dtype": "f32", "shape": ["n", 1024]}, "y": {"dtype": "f32", "shape": ["n", 1024]}},
  "programs": {"go": {
    "arguments": ["x"], "donate": ["x"], "outputs": {"out": "y"}, "code_bytes": "code",
    "temporaries": {"t{i}": {"for": {"i": 2}, "dtype": "f32", "shape": ["n", 1024]}},
    "operations": [
      {"name": "one", "reads": ["x"], "writes": ["t0"]},
      {"name": "two", "reads": ["t0"], "writes": ["t1"]},
      {"name": "three", "reads": ["t1"], "writes": ["out"]}]}},
  "steps": [{"for": {"i": 3}, "put": "x", "as": "x{i}"}, {"run": "go", "with": {"x": "x1", "y": "y1"}}]
)");

TEST(TpuWorkload, loops_names_and_donation_come_through) {
  const auto workload = workload_from(product);
  ASSERT_TRUE(workload) << workload.error().what;
  ASSERT_EQ(workload->steps.size(), 4);
  EXPECT_EQ(workload->steps[2].name, "x2");
  const tpu::Emulation emulation = tpu::emulate(*workload);
  EXPECT_TRUE(emulation.failures.empty());
  const tpu::ProgramMemory& memory = emulation.programs.front();
  EXPECT_EQ(memory.argument_bytes, 4 * mib);
  EXPECT_EQ(memory.alias_bytes, 4 * mib);
  EXPECT_EQ(memory.temp_bytes, 8 * mib);
  EXPECT_EQ(emulation.reused_bytes, 4 * mib);
  // Three arrays, one of which is now y1, and the reservations of the program and the compiler.
  const std::uint64_t reserved = workload->generation->hbm_total.value - workload->generation->hbm_usable.value;
  EXPECT_EQ(emulation.tier[0].end_bytes, 3 * 4 * mib + 8 * mib + reserved);
  EXPECT_EQ(emulation.tier[1].peak_bytes, 8 * mib);
  EXPECT_EQ(emulation.tier[1].end_bytes, 0);
}

TEST(TpuWorkload, is_a_trace_whose_heaps_add_up) {
  auto workload = workload_from(product);
  ASSERT_TRUE(workload);
  const tpu::Emulation emulation = tpu::emulate(*workload);
  const Trace trace = trace_from_emulation(*workload, emulation, "w.json", product.size());
  const Stream& stream = trace.streams.front();
  const StreamState& state = stream.last_state();
  EXPECT_EQ(state.problems().undefined_heaps, 0);
  for (const HeapInfo& heap : stream.definitions().heaps()) {
    if (heap.id == 0) continue;
    const tpu::Tier tier = heap.parent != 0 ? tpu::Tier::temporaries : tpu::Tier::hbm;
    EXPECT_EQ(state.heap(heap.id).in_use_bytes, emulation.tier[static_cast<std::size_t>(tier)].end_bytes);
  }
  const auto program = find_program_memory(trace);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->name, "go");
  EXPECT_EQ(program->temp_bytes, emulation.programs.front().temp_bytes);
}

// The report that the reader of real texts finds in an emulated one.
tpu_oom::Report report_of(const tpu::EmulatedFailure& failure) {
  const auto reports = tpu_oom::find_reports(failure.text, 10);
  EXPECT_EQ(reports.size(), 1) << failure.text;
  if (reports.empty()) return {};
  const tpu_oom::Check check = tpu_oom::check_report(reports.front());
  EXPECT_TRUE(check.differences.empty()) << check.differences.front() << "\n" << failure.text;
  EXPECT_TRUE(check.cuts.empty()) << check.cuts.front() << "\n" << failure.text;
  return reports.front();
}

void expect_near(const MaybeBytes& printed, std::optional<std::uint64_t> bytes) {
  ASSERT_EQ(printed.has_value(), bytes.has_value());
  if (!bytes) return;
  EXPECT_LE(std::max(printed->bytes, *bytes) - std::min(printed->bytes, *bytes), printed->error + 1);
}

tpu::Emulation emulation_of(const std::string& text, const std::vector<WorkloadChange>& changes = {}) {
  const auto workload = workload_from(text, changes);
  EXPECT_TRUE(workload) << workload.error().what;
  if (!workload) return {};
  tpu::Emulation emulation = tpu::emulate(*workload);
  EXPECT_EQ(emulation.failures.size(), 1);
  return emulation;
}

std::string with_one_argument(const std::string& extra = {}) {
  std::string text = product;
  const std::string loop = "{\"for\": {\"i\": 3}, \"put\": \"x\", \"as\": \"x{i}\"}";
  text.replace(text.find(loop), loop.size(), "{\"put\": \"x\", \"as\": \"x1\"}" + extra);
  return text;
}

TEST(TpuWorkloadFailures, the_short_and_the_long_text_of_the_compiler) {
  const tpu::Emulation beyond = emulation_of(with_one_argument(), {{"n", "1500000"}});
  const tpu_oom::Report required = report_of(beyond.failures.at(0));
  EXPECT_EQ(required.form, tpu_oom::Form::required);
  EXPECT_EQ(required.memory_space, "hbm");
  expect_near(required.requested, beyond.failures.at(0).requested_bytes);
  expect_near(required.limit, beyond.failures.at(0).limit_bytes);
  // Only its code is too much: all tables.
  const tpu::Emulation long_one = emulation_of(with_one_argument(), {{"n", "1200000"}, {"code", "4000000000"}});
  const tpu_oom::Report compile = report_of(long_one.failures.at(0));
  EXPECT_EQ(compile.form, tpu_oom::Form::compile);
  const tpu::ProgramMemory& memory = long_one.programs.front();
  expect_near(compile.used, memory.needed_bytes());
  expect_near(compile.requirement, memory.temp_bytes + 4'000'000'000);
  expect_near(compile.output, memory.output_bytes);
  expect_near(compile.output_shared, memory.alias_bytes);
  ASSERT_EQ(compile.program_allocations.size(), 3);
  expect_near(compile.program_allocations[0].size, memory.placed[0].bytes);
  EXPECT_EQ(compile.program_allocations[0].shape, "f32[1200000,1024]{1,0:T(8,128)}");
  EXPECT_EQ(tpu_oom::check_report(compile).identities, 5);
}

TEST(TpuWorkloadFailures, a_buffer_and_a_program_that_find_no_room) {
  const std::string filled =
      with_one_argument(", {\"for\": {\"i\": 20}, \"put\": \"y\", \"as\": \"y{i}\", \"may_fail\": false}");
  const tpu::Emulation buffer = emulation_of(filled, {{"n", "200000"}});
  const tpu_oom::Report report = report_of(buffer.failures.at(0));
  EXPECT_EQ(report.form, tpu_oom::Form::buffer);
  expect_near(report.requested, buffer.failures.at(0).requested_bytes);
  expect_near(report.free, buffer.failures.at(0).free_bytes);
  EXPECT_FALSE(report.largest_free) << "it is not fragmented";
  // Arguments, and temporaries of twice their size, which exceed the rest.
  const std::string nearly = with_one_argument(", {\"for\": {\"i\": 18}, \"put\": \"y\", \"as\": \"y{i}\"}");
  const tpu::Emulation load = emulation_of(nearly, {{"n", "200000"}});
  const tpu_oom::Report program = report_of(load.failures.at(0));
  EXPECT_EQ(program.form, tpu_oom::Form::program);
  EXPECT_EQ(program.program, "jit_go");
  expect_near(program.requested, load.failures.at(0).requested_bytes);
  expect_near(program.largest_free, load.failures.at(0).largest_free_bytes);
}

std::string kernel_file(const std::string& generation, const std::string& operands, const std::string& scratch) {
  return file_with("\"generation\": \"" + generation + R"(", "parameters": {"size": 4096, "block": 512},
  "arrays": {"x": {"dtype": "f32", "shape": ["size", "size"]}},
  "pipelines": {"k": {"grid": {"i": "size / block"}, "operands": [)" +
                   operands + R"(], "scratch": [)" + scratch + R"(]}},
  "programs": {"p": {"arguments": ["x"], "operations": [{"name": "k", "pipeline": "k", "reads": ["x"]}]}},
  "steps": [{"put": "x"}, {"run": "p"}])");
}
const std::string block_operand =
    R"({"name": "x", "dtype": "f32", "shape": ["size", "size"], "block": ["block", "size"], "index": ["i", 0]})";

TEST(TpuWorkloadFailures, vmem_smem_and_sparse_core) {
  const tpu::Emulation scoped = emulation_of(kernel_file("v5e", block_operand, ""), {{"block", "1024"}});
  const tpu_oom::Report stack = report_of(scoped.failures.at(0));
  EXPECT_EQ(stack.form, tpu_oom::Form::scoped);
  EXPECT_EQ(stack.memory_space, "vmem");
  expect_near(stack.requested, 32 * mib);
  expect_near(stack.limit, 16 * mib);
  const tpu::Emulation vmem =
      emulation_of(kernel_file("v5e", block_operand, R"({"name": "s", "dtype": "f32", "shape": [8192, 8192]})"));
  const tpu_oom::Report scratch = report_of(vmem.failures.at(0));
  EXPECT_EQ(scratch.form, tpu_oom::Form::allocation);
  EXPECT_EQ(scratch.memory_space, "vmem");
  EXPECT_EQ(scratch.requested->bytes, 256 * mib);
  // Scalars are padded too: 2 MiB, as the compiler has it.
  const tpu::Emulation smem = emulation_of(kernel_file(
      "v5e", block_operand + R"(, {"name": "p", "dtype": "s32", "shape": [4096, 3], "memory": "smem"})", ""));
  const tpu_oom::Report scalars = report_of(smem.failures.at(0));
  EXPECT_EQ(scalars.memory_space, "smem");
  EXPECT_EQ(scalars.requested->bytes, 2'097'152);
  // Each fits, and together they don't.
  const std::string scalar = R"(, {"name": "p", "dtype": "s32", "shape": [1024, 3], "memory": "smem"})";
  const tpu::Emulation three = emulation_of(kernel_file("v5e", block_operand + scalar + scalar + scalar, ""));
  EXPECT_EQ(report_of(three.failures.at(0)).requested->bytes, 3 * mib / 2);
  const tpu::Emulation sparse = emulation_of(kernel_file(
      "v5p", block_operand, R"({"name": "r", "dtype": "f32", "shape": [8192, 16], "memory": "tile_spmem"})"));
  const tpu_oom::Report subcore = report_of(sparse.failures.at(0));
  EXPECT_EQ(subcore.form, tpu_oom::Form::sparse);
  EXPECT_EQ(subcore.requested->bytes, 4 * 131'072);
}

TEST(TpuWorkloadFailures, cores_that_share_hbm) {
  const tpu::Emulation emulation = emulation_of(file_with(R"("generation": "v5e",
    "arrays": {"t": {"dtype": "f32", "shape": [200000000, 3], "memory": "sparse_core"},
               "d": {"dtype": "f32", "shape": [2600000, 1024]}},
    "programs": {"p": {"arguments": ["t"], "outputs": {"o": "d"}, "operations": [{"name": "k", "reads": ["t"], "writes": ["o"]}]}},
    "steps": [{"put": "t"}, {"run": "p"}])"));
  const tpu_oom::Report report = report_of(emulation.failures.at(0));
  EXPECT_EQ(report.form, tpu_oom::Form::cores);
  expect_near(report.requested, emulation.failures.at(0).requested_bytes);
}

TEST(TpuWorkload, accumulators_are_a_memory_where_they_are_known) {
  const std::string scratch = R"({"name": "a", "dtype": "f32", "shape": [512, 256], "memory": "accumulator"},
                                 {"name": "b", "dtype": "f32", "shape": [4096, 256], "memory": "accumulator"})";
  const auto peak_of = [&](const char* generation, tpu::Tier tier) {
    const auto workload = workload_from(kernel_file(generation, block_operand, scratch), {{"block", "64"}});
    EXPECT_TRUE(workload) << workload.error().what;
    const tpu::Emulation emulation = tpu::emulate(*workload);
    EXPECT_TRUE(emulation.failures.empty());
    return emulation.tier[static_cast<std::size_t>(tier)].peak_bytes;
  };
  const std::uint64_t blocks = 2 * 64 * 4096 * 4;
  EXPECT_EQ(peak_of("v5e", tpu::Tier::accumulator), 0);
  EXPECT_EQ(peak_of("v5e", tpu::Tier::vmem), blocks + 512 * 1024 + 4 * mib);
  EXPECT_EQ(peak_of("tpu7x", tpu::Tier::accumulator), 512 * 1024);
  EXPECT_EQ(peak_of("tpu7x", tpu::Tier::vmem), blocks + 4 * mib) << "what is larger than all of them";
}

TEST(TpuWorkload, values_that_live_in_vmem_are_a_heap_with_a_limit) {
  const std::string text = file_with(R"("parameters": {"n": 1024},
    "arrays": {"x": {"dtype": "f32", "shape": [8, 128]}},
    "programs": {"p": {"arguments": ["x"], "outputs": {"o": "x"},
      "temporaries": {"v": {"dtype": "f32", "shape": ["n", 1024], "memory": "vmem"}},
      "operations": [{"name": "a", "reads": ["x"], "writes": ["v"]}, {"name": "b", "reads": ["v"], "writes": ["o"]}]}},
    "steps": [{"put": "x"}, {"run": "p"}])");
  const auto workload = workload_from(text);
  ASSERT_TRUE(workload) << workload.error().what;
  EXPECT_EQ(tpu::emulate(*workload).tier[static_cast<std::size_t>(tpu::Tier::vmem)].peak_bytes, 4 * mib);
  const tpu::Emulation emulation = emulation_of(text, {{"n", "40000"}});
  const tpu_oom::Report report = report_of(emulation.failures.at(0));
  EXPECT_EQ(report.form, tpu_oom::Form::compile);
  EXPECT_EQ(report.memory_space, "vmem");
  std::string in_cmem = text;
  in_cmem.replace(in_cmem.find("\"vmem\""), 6, "\"cmem\"");
  EXPECT_EQ(fault_of(in_cmem), "line 5 (programs.p.temporaries.v.memory): v5e has no CMEM");
  const tpu::Emulation on_v4 = emulation_of(in_cmem, {{"generation", "v4"}, {"n", "40000"}});
  EXPECT_EQ(report_of(on_v4.failures.at(0)).memory_space, "cmem");
}

}  // namespace
}  // namespace hbmscope
