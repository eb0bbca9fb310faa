// Failures of a known cause must be named right, and those whose text leaves it open, unknown.
#include "analysis/answers/failure.h"
#include "analysis/diagnose/diagnosis.h"
#include "analysis/document/json.h"

#include <algorithm>
#include <functional>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analysis/trace/reported_figures.h"
#include "analysis/units/format.h"
#include "tests/analysis/log_texts.h"
#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

Diagnosis first_of(const Trace& trace) {
  const auto requests = find_failed_requests(trace);
  EXPECT_FALSE(requests.empty());
  return requests.empty() ? Diagnosis{} : diagnose(trace, requests.front(), Depth::full);
}

bool has_advice(const Diagnosis& diagnosis, std::string_view words) {
  return std::any_of(diagnosis.advice.begin(), diagnosis.advice.end(),
                     [&](const Advice& one) { return one.change.find(words) != std::string::npos; });
}

struct KnownText {
  Cause cause;
  const char* text;
};

constexpr const char* torch_middle = " Including non-PyTorch memory, this process has 3.97 GiB memory in use. ";

TEST(Cause, of_texts) {
  using enum Cause;
  const std::string fragmented = std::string(
                                     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 "
                                     "has a total capacity of 4.00 GiB of which 32.00 MiB is free.") +
                                 torch_middle +
                                 "Of the allocated memory 3.51 GiB is allocated by PyTorch, and 470.00 MiB is reserved "
                                 "by PyTorch but unallocated.";
  // What is free in the pool is the rest of many segments: settings of the allocator win little.
  const std::string nearly_full = std::string(
                                      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 "
                                      "has a total capacity of 4.00 GiB of which 32.00 MiB is free.") +
                                  torch_middle +
                                  "Of the allocated memory 3.89 GiB is allocated by PyTorch, and 80.00 MiB is reserved "
                                  "by PyTorch but unallocated.";
  const std::string full = std::string(
                               "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a "
                               "total capacity of 4.00 GiB of which 32.00 MiB is free.") +
                           torch_middle +
                           "Of the allocated memory 3.89 GiB is allocated by PyTorch, and 80.00 MiB is reserved by "
                           "PyTorch but unallocated.";
  const KnownText known[] = {
      {fragmentation, fragmented.c_str()},
      {too_big, nearly_full.c_str()},
      {too_big, full.c_str()},
      {too_big,
       "CUDA out of memory. Tried to allocate 100.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 79.00 GiB "
       "is "
       "free."},
      {cannot_grow,
       "CUDA out of memory. Tried to allocate 4.43 GiB (GPU 0; 23.48 GiB total capacity; 17.83 GiB already allocated; "
       "3.75 GiB free; 19.39 GiB reserved in total by PyTorch)"},
      {unknown, "CUDA out of memory. Tried to allocate 4.43 GiB"},
      {unknown, "Out of memory while trying to allocate 34359738496 bytes."},
      {unknown,
       "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 5000.00 MiB on device 0: cudaMalloc failed: out "
       "of memory"},
      {compile_time,
       "Ran out of memory in memory space hbm. Used 68.98M of 64.00M hbm. Exceeded hbm capacity by 4.98M."},
      {compile_time,
       "Ran out of memory on HBM, the total memory required for HLO temporaries (400.35G) exceeds available HBM "
       "(15.75G). HLO module: jit_step."},
      {compile_time,
       "Aborting compilation early because it's unlikely to have enough memory. Requires 3.84T, has 90.96G available."},
      {compile_time,
       "Ran out of memory in memory space vmem while allocating on stack for %kernel = f32[8,128]{1,0} custom-call(). "
       "Scoped allocation with size 64.00M and limit 16.00M exceeded scoped vmem limit by 48.00M."},
      {too_big,
       "Error allocating device buffer: Attempting to allocate 8.00M. That was not possible. There are 6.43M "
       "free.; (0x0x1_HBM0)"},
      {fragmentation,
       "Error allocating device buffer: Attempting to allocate 4.00M. That was not possible. There are "
       "6.43M free. Due to fragmentation, the largest contiguous region of free memory is 16.0K.; "
       "(0x0x1_HBM0)"},
      {too_big,
       "Error loading program 'jit_x': Attempting to reserve 13.50G at the bottom of memory. That was not "
       "possible. There are 7.48G free, 0B reserved, and 7.48G reservable."},
      {outside_pool_starved,
       "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"},
      {unknown, "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`"},
      {unknown, "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"},
      {outside_pool_starved, "node1:4711:4800 [0] NCCL WARN Cuda failure 2 'out of memory'"},
      {shared_memory,
       "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 147456, Hardware "
       "limit: 101376. Reducing block sizes or `num_stages` may help."},
      {host_memory, "Out of host memory while trying to allocate 4294967296 bytes."},
      {pool_limit,
       "RMM failure at: pool_memory_resource.hpp:277: Maximum pool size exceeded (failed to allocate 1.00 "
       "GiB)"},
      {pool_limit,
       "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,589,934,592 bytes (allocated so far: "
       "17,179,869,184 bytes, limit set to: 20,000,000,000 bytes)."},
      {unknown,
       "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,589,934,592 bytes (allocated so far: "
       "17,179,869,184 bytes)."},
  };
  for (const KnownText& one : known) {
    const Diagnosis found = first_of(tests::trace_of(std::string(one.text) + "\n"));
    EXPECT_EQ(text_from_cause(one.cause), text_from_cause(found.cause.cause)) << one.text << "\n"
                                                                              << found.cause.sentence;
    EXPECT_FALSE(found.cause.sentence.empty());
    const bool lists_nothing = found.holders.bytes > 0 || one.cause == unknown;
    EXPECT_TRUE(!lists_nothing || !found.cause.how_to_know.empty()) << one.text;
  }
}

TEST(Cause, of_a_full_pool_and_the_fraction_that_would_have_held_it) {
  const Diagnosis found = first_of(tests::trace_of(tests::joined(tests::bfc_lines())));
  EXPECT_EQ(Cause::pool_limit, found.cause.cause);
  EXPECT_EQ(Framework::jax_gpu, found.cause.framework);
  // 3 MiB in use and 2 MiB requested, of a device with 4 / 0.75 MiB: 93.75 %, and one percent.
  EXPECT_TRUE(has_advice(found, "XLA_PYTHON_CLIENT_MEM_FRACTION=0.95")) << found.advice.size();
  EXPECT_FALSE(found.row.available_bytes) << "a pool at its limit says nothing of the device";
}

// A pool of 100 MiB with a block of 10 MiB at every 20 MiB: five free blocks of 10 MiB.
Trace comb(std::uint64_t requested, std::uint64_t device_free, std::uint32_t flags = 0, std::uint64_t rounded = 0,
           const char* memory_kind = "device") {
  TraceBuilder builder;
  wire::HeapRecord record;
  record.device = 0;
  record.flags = wire::heap_flag::has_regions | wire::heap_flag::has_requested | wire::heap_flag::has_addresses | flags;
  const std::uint32_t heap = builder.writer.define_heap(record, "GPU_0_bfc", memory_kind);
  builder.grow(heap, 0, 100 * mib);
  for (std::uint64_t i = 0; i < 5; ++i)
    builder.alloc(heap, i * 20 * mib, 10 * mib, builder.stack("main;f" + std::to_string(i % 2)));
  if (rounded != 0) builder.counter(heap, reported_figure::rounded_request, rounded);
  builder.run_out(heap, requested, device_free);
  builder.writer.flush();
  return std::move(builder.trace);
}

TEST(Cause, of_heaps) {
  using enum Cause;
  EXPECT_EQ(fragmentation, first_of(comb(15 * mib, wire::unknown_bytes)).cause.cause);
  EXPECT_EQ(pool_limit, first_of(comb(200 * mib, 500 * mib)).cause.cause);
  EXPECT_EQ(cannot_grow, first_of(comb(60 * mib, 20 * mib)).cause.cause);
  EXPECT_EQ(too_big, first_of(comb(200 * mib, 20 * mib)).cause.cause);
  EXPECT_EQ(wrong_end, first_of(comb(5 * mib, 0, wire::heap_flag::has_two_ends)).cause.cause);
  EXPECT_EQ(unknown, first_of(comb(5 * mib, 0)).cause.cause) << "there was room: why it was not used is unknown";
  EXPECT_EQ(alignment, first_of(comb(10 * mib, 0, 0, 11 * mib)).cause.cause);
  EXPECT_EQ(host_memory, first_of(comb(15 * mib, 0, 0, 0, "host_pinned")).cause.cause);
}

TEST(Cause, free_memory_of_the_device_is_explained_before_it_is_asked) {
  const Diagnosis found = first_of(comb(15 * mib, 500 * mib));
  EXPECT_EQ(Cause::fragmentation, found.cause.cause);
  const auto& evidence = found.cause.evidence;
  EXPECT_TRUE(std::any_of(evidence.begin(), evidence.end(), [](const Evidence& one) {
    return one.text == "500 MiB was free on the device, but a preallocated pool never grows.";
  }));
}

TEST(Diagnosis, of_streams_of_different_sizes) {
  const Trace first = comb(15 * mib, 0);
  TraceBuilder small;
  small.alloc(small.heap("GPU 1", wire::heap_flag::has_addresses), 0, 4096);
  small.writer.flush();
  Trace joined;
  joined.files = {"a", "b"};
  joined.streams.push_back(small.trace.streams[0].version());
  joined.streams.push_back(first.streams[0].version());
  joined.stream_files = joined.files;
  joined.stream_processes = {0, 1};
  const Diagnosis found = first_of(joined);
  EXPECT_EQ(1U, found.stream);
  EXPECT_EQ(50 * mib, found.holders.bytes);
}

TEST(Holders, are_the_lines_with_the_most_bytes) {
  const Diagnosis found = first_of(comb(15 * mib, 0));
  EXPECT_EQ(50 * mib, found.holders.bytes);
  ASSERT_EQ(2U, found.holders.rows.size());
  EXPECT_EQ("f0  f0.py:7", found.holders.rows[0].name);
  EXPECT_EQ(30 * mib, found.holders.rows[0].bytes);
  EXPECT_EQ(3U, found.holders.rows[0].blocks);
  EXPECT_EQ(Holders::By::code, found.holders.by);
}

TEST(Advice, on_fragmentation_names_the_blocking_allocations) {
  const Diagnosis found = first_of(comb(15 * mib, 0));
  EXPECT_TRUE(has_advice(found, "XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"));
  EXPECT_TRUE(has_advice(found, "release 1 blocking allocation"));
  for (const Advice& one : found.advice)
    EXPECT_EQ(one.change.starts_with("release"), one.proof == AdviceProof::computed) << one.change;
}

TEST(Diagnosis, as_json_has_the_figures_and_the_answer) {
  const Trace trace = comb(15 * mib, 0);
  const nlohmann::ordered_json json = json_from_document(describe_failure(trace, first_of(trace)));
  EXPECT_EQ("fragmentation", json["verdict"]);
  EXPECT_EQ(15 * mib, json["asked_bytes"]);
  EXPECT_EQ(1U, json["blockers"].size());
  EXPECT_EQ(2U, json["holders"].size());
  EXPECT_DOUBLE_EQ(0.6, json["holders"][0]["share"].get<double>());
  EXPECT_FALSE(json["advice"].empty());
  EXPECT_TRUE(json["unknown"].is_null());
}

// A job without a pool, on a device with 8 GiB free; it holds `held`.
Diagnosis refused_by_driver(std::uint64_t requested, std::uint64_t available, std::uint64_t held) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("GPU 0 memory", wire::heap_flag::has_addresses);
  builder.alloc(heap, 0x1000000000, held, builder.stack("main;load"));
  builder.refuse(heap, requested, available);
  builder.writer.flush();
  builder.trace.streams.front().end_refusals();
  return first_of(builder.trace);
}

TEST(Cause, of_a_refusal_by_the_driver) {
  const Diagnosis full = refused_by_driver(20 * gib, 8 * gib, 70 * gib);
  EXPECT_EQ(full.cause.cause, Cause::too_big);
  EXPECT_EQ(full.cause.sentence, "Not enough memory on the device: requested 20.0 GiB, and 8.00 GiB was free.");
  EXPECT_TRUE(full.cause.unknowns.empty()) << full.cause.unknowns;
  EXPECT_TRUE(has_advice(full, "use less memory"));
  const Diagnosis hopeless = refused_by_driver(100 * gib, 78 * gib, gib);
  ASSERT_EQ(hopeless.advice.size(), 1U);
  EXPECT_EQ(hopeless.advice[0].change, "request less at once");
  EXPECT_EQ(hopeless.advice[0].why,
            "Even after releasing everything that this process holds (1.00 GiB), 21.0 GiB would be missing.");
  const Diagnosis strange = refused_by_driver(2 * gib, 8 * gib, gib);
  EXPECT_EQ(strange.cause.cause, Cause::unknown);
  EXPECT_EQ(strange.cause.sentence, "The driver refused 2.00 GiB, although 8.00 GiB was free on the device.");
  const Diagnosis silent = refused_by_driver(2 * gib, wire::unknown_bytes, gib);
  EXPECT_EQ(silent.cause.unknowns, "The free memory on the device is unknown.");
}

TEST(Advice, names_the_processes_that_hold_what_is_missing) {
  const std::string text =
      "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 2.60 GiB is "
      "free. Process 11 has 6.00 GiB memory in use. Process 12 has 40.00 GiB memory in use. Including non-PyTorch "
      "memory, this process has 30.50 GiB memory in use. Of the allocated memory 29.00 GiB is allocated by PyTorch, "
      "and "
      "1.00 GiB is reserved by PyTorch but unallocated.\n";
  const Trace trace = tests::trace_of(text);
  const Diagnosis found = first_of(trace);
  ASSERT_FALSE(found.advice.empty());
  EXPECT_EQ(found.advice[0].change, "end process 12, or run on another GPU");
  EXPECT_EQ(found.advice[0].why, "40.0 GiB held there; without that, 42.6 GiB would be free.");
  ASSERT_TRUE(found.budget);
  std::vector<std::pair<std::string, std::string>> parts;
  for (const BudgetRow& row : found.budget->rows)
    if (row.part == BudgetPart::process || row.part == BudgetPart::outside)
      parts.emplace_back(std::string(text_from_part(row.part)) + ": " + row.name, text_from_bytes(row.bytes));
  EXPECT_EQ(parts,
            (std::vector<std::pair<std::string, std::string>>{{"process: process 11", "6.00 GiB"},
                                                              {"process: process 12", "40.0 GiB"},
                                                              {"outside: this process, outside the pool", "512 MiB"}}));
}

// XLA requests all temporaries of a program at once, so the request says which program it was.
TEST(Advice, on_the_program_whose_temporaries_were_requested) {
  const auto with_program = [](std::uint64_t temporaries, std::uint64_t aliased) {
    TraceBuilder builder;
    wire::HeapRecord record;
    record.device = 0;
    record.flags = wire::heap_flag::has_regions | wire::heap_flag::has_addresses;
    const std::uint32_t heap = builder.writer.define_heap(record, "GPU_0_bfc", "device");
    builder.writer.add_job_fact("program.jit_train_step",
                                "arguments=" + std::to_string(40 * mib) + " outputs=" + std::to_string(40 * mib) +
                                    " aliased=" + std::to_string(aliased) +
                                    " temporaries=" + std::to_string(temporaries) + " code=0");
    builder.grow(heap, 0, 100 * mib);
    builder.alloc(heap, 0, 40 * mib, builder.stack("main;step"));
    builder.run_out(heap, 200 * mib, 0);
    builder.writer.flush();
    return first_of(builder.trace);
  };
  const Diagnosis found = with_program(200 * mib - 100, 0);
  EXPECT_TRUE(has_advice(found, "checkpointing the layers (jax.checkpoint)"));
  EXPECT_TRUE(has_advice(found, "donate the arguments"));
  ASSERT_FALSE(found.advice.empty());
  EXPECT_NE(std::string::npos, found.advice[0].why.find("The request is for all temporaries of jit_train_step"));
  EXPECT_FALSE(has_advice(with_program(200 * mib, 40 * mib), "donate the arguments")) << "they are donated";
  EXPECT_FALSE(has_advice(with_program(150 * mib, 0), "checkpointing the layers")) << "it was another request";
}

TEST(Advice, for_more_than_the_device_has) {
  const Trace trace = tests::trace_of(
      "CUDA out of memory. Tried to allocate 100.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 78.60 GiB is "
      "free. Of the allocated memory 0 bytes is allocated by PyTorch, and 0 bytes is reserved by PyTorch but "
      "unallocated.\n");
  const Diagnosis found = first_of(trace);
  ASSERT_EQ(found.advice.size(), 1U);
  EXPECT_EQ(found.advice[0].change, "a smaller request: a smaller batch, or shorter or smaller inputs");
  EXPECT_FALSE(found.pool_costs) << "there is no pool to explain";
}

}  // namespace
}  // namespace hbmscope
