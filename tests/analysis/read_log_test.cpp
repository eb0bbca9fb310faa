// Logs: dumps, sentences and reports in whatever surrounds them.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/diagnose/diagnosis.h"
#include "analysis/query/log_headline.h"
#include "analysis/read/log/log_reader.h"
#include "analysis/read/log/trigger_scan.h"
#include "analysis/read/source/read_source.h"
#include "analysis/trace/moment.h"
#include "tests/analysis/log_texts.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

using tests::bfc_lines;
using tests::findings_of;
using tests::joined;
using tests::trace_of;

FailureRow only_failure(const std::string& text) {
  const auto rows = compute_failure_rows(trace_of(text));
  EXPECT_EQ(rows.size(), 1) << text;
  return rows.size() == 1 ? rows.front() : FailureRow{};
}

std::string detail(const FailureRow& row, std::string_view key) {
  for (const auto& [name, value] : row.details)
    if (name == key) return value;
  return {};
}

void expect_whole_dump(const std::string& text) {
  const Trace trace = trace_of(text);
  ASSERT_EQ(compute_failure_rows(trace).size(), 1) << text;
  const FailureRow row = compute_failure_rows(trace).front();
  EXPECT_EQ(row.requested_bytes, 2 * mib);
  EXPECT_EQ(row.rounded_bytes, 2 * mib);
  EXPECT_EQ(row.pool_bytes, 4 * mib);
  EXPECT_EQ(row.used_bytes, 3 * mib);
  EXPECT_EQ(row.total_free_bytes, 1 * mib);
  EXPECT_EQ(row.largest_free_bytes, 1 * mib);
  EXPECT_EQ(row.limit_bytes, 4 * mib);
  EXPECT_EQ(row.available_bytes, std::nullopt) << "the pool is at its limit, whatever the device has";
  EXPECT_EQ(row.allocator, "GPU_0_bfc");
  EXPECT_EQ(row.device, 0);
  EXPECT_EQ(detail(row, "operation"), "dot.3");
  EXPECT_EQ(diagnose(trace, {0, 0}, Depth::brief).cause.cause, Cause::pool_limit);
  EXPECT_EQ(trace.import.count_of("sums_differ"), 0);
  EXPECT_EQ(trace.import.count_of("dumps_cut_off"), 0);
}

TEST(Log, a_dump_is_a_heap_with_its_failure_whatever_the_prefix) {
  expect_whole_dump(joined(bfc_lines()));
  expect_whole_dump("step 1\r\n" + joined(bfc_lines(), "\r\n") + "step 2\r\n");
  expect_whole_dump(joined(bfc_lines("2024-07-12 14:20:01.744246: W tensorflow/tsl/framework/bfc_allocator.cc:")));
  expect_whole_dump(
      joined(bfc_lines("2025-01-05 09:48:28.754214: I external/xla/xla/tsl/framework/bfc_allocator.cc:")));
  expect_whole_dump(joined(bfc_lines("\x1b[33mW0000 00:00:1736070508.754214    4711 bfc_allocator.cc:")));
  for (const std::string speaker : {"[rank3]: ", "3: ", "(train_fn pid=4711, ip=10.0.0.7) ", "[1,3]<stderr>:",
                                    "worker-3  | ", "[pod/trainer-3/main] ", "2026-07-13T01:58:23.985593Z "}) {
    std::vector<std::string> lines = bfc_lines();
    for (std::string& line : lines) line = speaker + line;
    SCOPED_TRACE(speaker);
    expect_whole_dump(joined(lines));
  }
}

TEST(Log, lines_inside_json_are_lines) {
  std::string escaped;
  for (const char c : joined(bfc_lines()))
    escaped += c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '"' ? "\\\"" : std::string(1, c);
  expect_whole_dump("{\"message\": \"" + escaped + "\", \"severity\": \"ERROR\"}\n");
  expect_whole_dump("{\"message\": \"" + escaped +
                    "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2.00MiB.\\n\"}\n");
  std::string structured, notebook = "{\n \"cells\": [\n  {\n   \"text\": [\n";
  for (const std::string& line : bfc_lines()) {
    std::string inner;
    for (const char c : line) inner += c == '\t' ? "\\t" : std::string(1, c);
    structured += "{\"log\":\"" + inner + "\\n\",\"stream\":\"stderr\"}\n";
    notebook += "    \"" + inner + "\\n\",\n";
  }
  expect_whole_dump(structured);
  expect_whole_dump(notebook + "   ]\n  }\n ]\n}\n");
}

TEST(Log, interleaved_dumps_are_taken_apart) {
  // By prefix, by thread, and, without either, by addresses.
  const auto interleaved = [](const std::vector<std::string>& a, const std::vector<std::string>& b) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < a.size(); ++i) {
      lines.push_back(a[i]);
      lines.push_back(b[i]);
    }
    return joined(lines);
  };
  const auto said_by = [](const std::string& speaker) {
    std::vector<std::string> lines = bfc_lines();
    for (std::string& line : lines) line = speaker + line;
    return lines;
  };
  for (const std::string& text : {interleaved(said_by("[rank0]: "), said_by("[rank1]: ")),
                                  interleaved(bfc_lines("I1124 23:15:32.990199   100 bfc_allocator.cc:"),
                                              bfc_lines("I1124 23:15:32.990199   101 bfc_allocator.cc:", "7e0000"))}) {
    const Trace trace = trace_of(text);
    ASSERT_EQ(trace.import.count_of("failures"), 2) << text;
    EXPECT_EQ(trace.import.count_of("dumps_cut_off"), 0);
    EXPECT_EQ(trace.import.count_of("chunks"), 6);
    EXPECT_EQ(trace.import.count_of("sums_differ"), 0);
  }
}

TEST(Log, a_dump_that_is_cut_off_gives_what_is_there) {
  const std::vector<std::string> lines = bfc_lines();
  // From any first line to the end, and from the beginning to any last line: never more than is printed.
  for (std::size_t cut = 1; cut < lines.size(); ++cut) {
    SCOPED_TRACE(cut);
    const Trace head = trace_of(joined({lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(cut)}));
    const auto rows = compute_failure_rows(head);
    ASSERT_EQ(rows.size(), 1);
    EXPECT_EQ(rows[0].requested_bytes, 2 * mib);
    const bool is_list_whole = cut >= 11;  // Else it may go on.
    EXPECT_EQ(rows[0].pool_bytes, is_list_whole ? std::optional(4 * mib) : std::nullopt);
    EXPECT_EQ(rows[0].largest_free_bytes, is_list_whole ? std::optional(1 * mib) : std::nullopt);
    const Trace tail = trace_of(joined({lines.begin() + static_cast<std::ptrdiff_t>(cut), lines.end()}));
    for (const FailureRow& row : compute_failure_rows(tail)) {
      EXPECT_TRUE(!row.used_bytes || *row.used_bytes <= 3 * mib);
      EXPECT_TRUE(!row.pool_bytes || *row.pool_bytes == 4 * mib);
    }
  }
}

TEST(Log, the_sentence_after_a_dump_is_the_same_failure) {
  const std::string dump = joined(bfc_lines());
  const std::string sentence =
      "Traceback (most recent call last):\n  File \"/home/me/train.py\", line 7, in step\n    y = x @ w\n"
      "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2.00MiB. "
      "[executable_name='jit_step']\n";
  const FailureRow row = only_failure(dump + sentence + "The above exception was the cause of:\n" + sentence);
  EXPECT_EQ(row.pool_bytes, 4 * mib);
  EXPECT_EQ(detail(row, "program"), "jit_step");
  EXPECT_EQ(row.own_line, "step /home/me/train.py:7");
  EXPECT_EQ(row.line, 1);
  const FailureRow retried =
      only_failure(dump +
                   "W bfc_allocator.cc:310] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00MiB "
                   "with freed_by_count=0.\n");
  EXPECT_EQ(detail(retried, "times"), "2");
  // Another size is another failure.
  const Trace two = trace_of(dump + "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 3.50MiB.\n");
  EXPECT_EQ(two.import.count_of("failures"), 2);
}

TEST(Log, cuda_async_tells_its_figures_and_the_exception_the_size) {
  const std::string file =
      "2026-11-27 02:26:43.65: E external/xla/xla/stream_executor/gpu/gpu_cudamallocasync_allocator.cc:";
  std::string text = file +
                     "361] gpu_async_0 cuMemAllocAsync failed to allocate 3221225472 bytes: RESOURCE_EXHAUSTED: : "
                     "CUDA_ERROR_OUT_OF_MEMORY: out of memory\n Reported by CUDA: Free memory/Total memory: "
                     "759169024/4294967296\n" +
                     file +
                     "366] Stats: Limit:                      3221225472\n"
                     "InUse:                      1096810500\nMaxInUse:                   1096810504\n";
  for (int i = 0; i < 40; ++i) text += file + "73] 1048576, 6\n";  // The histogram.
  text += file +
          "106] CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: 2147483648\n"
          "E1127 02:26:43.65    4798 pjrt_stream_executor_client.cc:2916] Execution of replica 0 failed: "
          "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 3221225472 bytes.\n";
  const FailureRow row = only_failure(text);
  EXPECT_EQ(row.requested_bytes, 3 * gib);
  EXPECT_EQ(row.available_bytes, 759'169'024);
  EXPECT_EQ(row.used_bytes, 1'096'810'500);
  EXPECT_EQ(row.pool_bytes, 2 * gib);
  EXPECT_EQ(row.limit_bytes, 3 * gib);
}

TEST(Log, a_list_without_its_beginning_may_lack_regions) {
  std::vector<std::string> lines = bfc_lines();
  lines.erase(lines.begin(), lines.begin() + 6);
  const auto rows = compute_failure_rows(trace_of(joined(lines)));
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].used_bytes, 3 * mib);  // By the statistics at its end.
  EXPECT_EQ(trace_of(joined(lines)).import.count_of("dumps_cut_off"), 1);
}

TEST(Log, allocators_of_one_device_keep_their_figures_apart) {
  const Trace trace = trace_of(
      "CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 has a total capacity of 4.00 GiB of "
      "which 32.00 MiB is free.\n" +
      joined(bfc_lines()));
  const auto rows = compute_failure_rows(trace);
  ASSERT_EQ(rows.size(), 2);
  EXPECT_FALSE(rows[0].pool_bytes);
  EXPECT_FALSE(rows[0].total_free_bytes);
  EXPECT_EQ(rows[1].pool_bytes, 4 * mib);
}

TEST(Log, a_text_that_is_no_file_opens) {
  const auto source = read_text_source(joined(bfc_lines()), "pasted text");
  ASSERT_TRUE(source) << source.error().what;
  EXPECT_EQ(compute_failure_rows(*source->trace).size(), 1);
  EXPECT_FALSE(read_text_source("", "pasted text"));
  const auto nothing = read_text_source("step 1\n", "pasted text");
  ASSERT_TRUE(nothing);
  EXPECT_EQ(headline_of_log(*nothing->trace), "No out-of-memory in this log of 1 line.");
  EXPECT_FALSE(read_text_source("step = 1\n", "train.py")) << "a program is no log";
}

TEST(Log, what_an_allocator_can_do_without_is_no_failure) {
  const std::string note =
      "2023-01-01 10:00:00.0: W tensorflow/core/common_runtime/bfc_allocator.cc:290] Allocator (GPU_0_bfc) ran out of "
      "memory trying to allocate 2.20GiB with freed_by_count=0. The caller indicates that this is not a failure, but "
      "this may mean that there could be performance gains if more memory were available.\n";
  const Trace trace = trace_of(note + note);
  EXPECT_TRUE(compute_failure_rows(trace).empty());
  EXPECT_EQ(trace.import.count_of("not_failures"), 2);
}

TEST(Log, what_is_denied_or_tried_again_is_no_failure) {
  for (const char* text :
       {"0 jobs were OOMKilled in the last 24 h\n", "slurmstepd: info: no oom_kill events detected\n",
        "   \"OOMKilled\": false,\n", "OOMKilled=false\n",
        "batch size 64 failed with CUDA out of memory, trying batch size 32\nstep 1\n"}) {
    const auto source = read_text_source(text, "job.log");
    ASSERT_TRUE(source) << text;
    EXPECT_TRUE(compute_failure_rows(*source->trace).empty()) << text;
  }
  only_failure("   \"OOMKilled\": true,\n");
  only_failure("rank 0 was OOMKilled\n");
  only_failure("worker 0 OOMKilled\n");
  only_failure("Detected 1 oom_kill event in StepId=1.0.\n");
}

struct Said {
  const char* name;
  const char* text;
  std::optional<std::uint64_t> requested, available, used, free, pool, limit;
  const char* allocator;
};
class LogSentence : public testing::TestWithParam<Said> {};

TEST_P(LogSentence, gives_its_figures_wherever_it_stands) {
  const Said& said = GetParam();
  for (const std::string before : {"", "noise\n", "\x1b[31m[rank0]: ", "ERROR 10-25 11:17:27 [core.py:720] "}) {
    const FailureRow row = only_failure(before + said.text + "\n");
    EXPECT_EQ(row.requested_bytes, said.requested.value_or(0));
    EXPECT_EQ(row.available_bytes, said.available);
    EXPECT_EQ(row.used_bytes, said.used);
    EXPECT_EQ(row.total_free_bytes, said.free);
    EXPECT_EQ(row.pool_bytes, said.pool);
    EXPECT_EQ(row.limit_bytes, said.limit);
    EXPECT_EQ(row.allocator, said.allocator);
    EXPECT_EQ(row.line, before == "noise\n" ? 2 : 1);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, LogSentence,
    testing::Values(
        Said{"pytorch_new",
             "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 has a total capacity of "
             "4.00 GiB of which 32.00 MiB is free. Process 4711 has 1.00 GiB memory in use. Including non-PyTorch "
             "memory, this process has 3.00 GiB memory in use. 2.50 GiB allowed; Of the allocated memory 2.25 GiB is "
             "allocated by PyTorch, with 128.00 MiB allocated in private pools (e.g., CUDA Graphs), and 256.00 MiB is "
             "reserved by PyTorch but unallocated. If reserved but unallocated memory is large ...",
             64 * mib, 32 * mib, 2304 * mib, 256 * mib, 2560 * mib, 2560 * mib, "PyTorch's CUDA allocator"},
        Said{"pytorch_old",
             "RuntimeError: CUDA out of memory. Tried to allocate 4.50 GiB (GPU 3; 24.00 GiB total capacity; 17.50 GiB "
             "already allocated; 3.75 GiB free; 19.25 GiB reserved in total by PyTorch)",
             9 * gib / 2,
             15 * gib / 4,
             35 * gib / 2,
             7 * gib / 4,
             77 * gib / 4,
             {},
             "PyTorch's CUDA allocator"},
        Said{"mps",
             "RuntimeError: MPS backend out of memory (MPS allocated: 17.75 GB, other allocations: 384.00 KB, max "
             "allowed: 18.25 GB). Tried to allocate 1.50 GB on private pool.",
             3 * gib / 2,
             {},
             71 * gib / 4,
             {},
             {},
             73 * gib / 4,
             "PyTorch's MPS allocator"},
        Said{"jax_constant",
             "INTERNAL: Failed to allocate 1073741824 bytes for new constant",
             1 * gib,
             {},
             {},
             {},
             {},
             {},
             "XLA's device allocator"},
        Said{"jax_request",
             "RESOURCE_EXHAUSTED: Failed to allocate request for 154.06GiB (165425291480B) on device ordinal 0",
             165'425'291'480,
             {},
             {},
             {},
             {},
             {},
             "XLA's device allocator"},
        Said{
            "jax_named",
            "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 27.50GiB with allocator GPU_0_bfc on device 0.",
            55 * gib / 2,
            {},
            {},
            {},
            {},
            {},
            "GPU_0_bfc"},
        Said{"cupy",
             "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,589,934,592 bytes (allocated so far: "
             "17,179,869,184 bytes, limit set to: 21,474,836,480 bytes).",
             8 * gib,
             {},
             {},
             {},
             16 * gib,
             20 * gib,
             "CuPy's memory pool"},
        Said{
            "ggml",
            "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 4096.00 MiB on device 0: cudaMalloc failed: out of "
            "memory",
            4 * gib,
            {},
            {},
            {},
            {},
            {},
            "ggml"},
        Said{"triton",
             "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 180224, Hardware limit: "
             "101376. Reducing block sizes or `num_stages` may help.",
             180'224,
             {},
             {},
             {},
             {},
             101'376,
             "shared memory of a Triton kernel"},
        Said{"rmm",
             "MemoryError: std::bad_alloc: out_of_memory: CUDA error at: x.hpp:70: cudaErrorMemoryAllocation",
             {},
             {},
             {},
             {},
             {},
             {},
             "RMM"},
        Said{"vllm_start",
             "ValueError: Free memory on device (67.25/79.25 GiB) on startup is less than desired GPU memory "
             "utilization (0.9, 71.50 GiB). Decrease GPU memory utilization.",
             143 * gib / 2,
             269 * gib / 4,
             {},
             {},
             {},
             {},
             "vLLM"},
        Said{"cublas",
             "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
             {},
             {},
             {},
             {},
             {},
             {},
             "cuBLAS"}),
    [](const auto& of) { return std::string(of.param.name); });

TEST(Log, the_words_of_pytorch_beyond_its_figures_are_kept) {
  const FailureRow row = only_failure(
      "[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 5 has a total capacity of "
      "8.00 GiB of which 1.00 GiB is free. Process 11 has 1.50 GiB memory in use. Process 12 has 2.50 GiB memory in "
      "use. Including non-PyTorch memory, this process has 3.00 GiB memory in use.\n");
  EXPECT_EQ(detail(row, "process 11"), "1610612736");
  EXPECT_EQ(detail(row, "process 12"), "2684354560");
  EXPECT_EQ(detail(row, "this process"), "3221225472");
  EXPECT_EQ(detail(row, "rank"), "5");
  EXPECT_EQ(row.device, 5);
}

TEST(Log, a_notebook_says_its_failure_once) {
  const std::string said = "CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 has a total capacity of 4.00 GiB";
  const FailureRow row = only_failure("{\n \"evalue\": \"" + said +
                                      "\",\n \"traceback\": [\n  \"\\u001b[31mOutOfMemory"
                                      "Error\\u001b[39m: " +
                                      said + "\"\n ]\n}\n");
  EXPECT_EQ(row.requested_bytes, 64 * mib);
  EXPECT_EQ(detail(row, "times"), "2");
}

TEST(Log, a_tpu_report_is_found_among_other_lines_and_counted_once) {
  const std::string report =
      "Ran out of memory in memory space hbm. Used 40.00M of 32.00M hbm. Exceeded hbm capacity by 8.00M.\n";
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "step " + std::to_string(i) + "\n";
  const FailureRow row = only_failure(text + "XlaRuntimeError: RESOURCE_EXHAUSTED: " + report + text + report);
  EXPECT_EQ(row.line, 1001);
  EXPECT_EQ(row.requested_bytes, 40 * mib);
  EXPECT_EQ(row.memory_space, "hbm");
  EXPECT_EQ(detail(row, "times"), "2");
}

TEST(Log, a_tpu_report_says_what_is_padding_and_fragmentation) {
  const FailureRow row = only_failure(
      "Ran out of memory in memory space hbm. Used 41.00G of 16.00G hbm. Exceeded hbm capacity by 25.00G.\n\n"
      "Program hbm requirement 41.00G:\n    HLO temp         41.00G (24.2% utilization, 0.7% fragmentation "
      "(256.00M))\n\n"
      "  Largest program allocations in hbm:\n\n  1. Size: 32.00G\n"
      "     Operator: op_name=\"jit(f)/tokamax:{\\\"op\\\": 1}/dot\" source_file=\"/a/b.py\" source_line=12\n"
      "     Unpadded size: 1.00G\n     Extra memory due to padding: 31.00G (32.0x expansion)\n"
      "     Allocation type: HLO temp\n     ==========================\n");
  EXPECT_EQ(detail(row, "padding of the listed buffers"), "31.0 GiB");
  EXPECT_EQ(detail(row, "lost to fragmentation of temporaries"), "256 MiB");
  // A kernel whose sizes are cut off has failed too.
  const FailureRow kernel = only_failure(
      "RESOURCE_EXHAUSTED: Ran out of memory in memory space vmem while allocating on stack for %k.1 = f32[8]{0} "
      "custom-call(%a)");
  EXPECT_EQ(kernel.requested_bytes, 0);
  EXPECT_EQ(kernel.memory_space, "vmem");
  EXPECT_EQ(detail(kernel, "program"), "k.1");
}

TEST(Log, the_start_of_a_server_is_an_account_of_its_memory) {
  const Trace trace = trace_of(
      "(Worker_TP0 pid=7) INFO 05-06 20:59:59 [gpu_model_runner.py:4879] Model loading took 12.50 GiB memory and 31.6 "
      "seconds\n(Worker_TP0 pid=7) INFO 05-06 21:01:00 [gpu_worker.py:358] Available KV cache memory: 18.75 GiB\n"
      "(Worker_TP0 pid=7) INFO 05-06 21:01:10 [gpu_model_runner.py:1] Graph capturing finished in 20 secs, took 0.25 "
      "GiB\n(Worker_TP1 pid=8) INFO 05-06 20:59:59 [gpu_model_runner.py:4879] Model loading took 11.50 GiB memory and "
      "31.6 seconds\n");
  const Stream& stream = trace.streams.front();
  EXPECT_EQ(stream.failures().size(), 0);
  EXPECT_EQ(stream.last_state().in_use_bytes(1), 63 * gib / 2);
  EXPECT_EQ(stream.last_state().in_use_bytes(2), 23 * gib / 2);
  EXPECT_TRUE(is_of_log(trace));
}

TEST(Log, pieces_of_any_size_give_the_same) {
  const std::string text = "a\n" + joined(bfc_lines()) + "b\nCUDA out of memory. Tried to allocate 1.00 GiB\n";
  const log::Findings whole = findings_of(text);
  for (const std::size_t piece : {1, 2, 3, 7, 64, 1000}) {
    const log::Findings pieces = findings_of(text, piece);
    ASSERT_EQ(pieces.failures.size(), whole.failures.size()) << piece;
    EXPECT_EQ(pieces.lines, whole.lines) << piece;
    for (std::size_t i = 0; i < whole.failures.size(); ++i) {
      EXPECT_EQ(pieces.failures[i].place.line, whole.failures[i].place.line) << piece;
      EXPECT_EQ(pieces.failures[i].place.byte, whole.failures[i].place.byte) << piece;
    }
  }
}

TEST(Log, the_scan_takes_a_common_word_only_near_a_word_of_its_sentences) {
  const auto has_trigger = [](std::string_view text) { return log::find_trigger(text, 0) != std::string_view::npos; };
  EXPECT_FALSE(has_trigger("WARNING dataloader.py:7: worker 3 took 0.512 s for a batch"));
  EXPECT_FALSE(has_trigger("secs and weights, far " + std::string(60, '.') + " took 1.00 GiB"));
  EXPECT_FALSE(has_trigger("took"));
  EXPECT_TRUE(has_trigger("Loading model weights took 14.96 GB"));
  EXPECT_TRUE(has_trigger("Model loading\t \x1b[0m took 12.50 GiB"));
  EXPECT_TRUE(has_trigger("Graph capturing finished in 20 secs, took 0.25 GiB"));
}

TEST(Log, the_scan_finds_what_a_search_finds) {
  std::string text(1000, 'x');
  for (std::size_t at = 0; at + 4 <= 200; ++at) {
    std::string with = text;
    with.replace(at, 4, "MEMO");
    EXPECT_EQ(log::find_trigger(with, 0), std::string::npos);
    with.replace(at, 4, at % 2 == 0 ? "LLOC" : "emor");
    EXPECT_EQ(log::find_trigger(with, 0), at);
    EXPECT_EQ(log::find_trigger(with, at + 1), std::string::npos);
    with[at] = '\n';
    EXPECT_EQ(log::count_line_ends(with), 1);
  }
  // At the end of a text of any length; "hbm" without what follows is none.
  for (std::size_t size = 3; size <= 80; ++size) {
    std::string with(size, 'x');
    with.replace(size - 3, 3, "hbm");
    EXPECT_EQ(log::find_trigger(with, 0), std::string::npos) << size;
    EXPECT_EQ(log::find_trigger(with + "=", 0), size - 3) << size;
    EXPECT_EQ(log::find_trigger(with + "=", size - 3), size - 3) << size;
  }
  EXPECT_EQ(log::count_line_ends(std::string(100'000, '\n')), 100'000);
}

}  // namespace
}  // namespace hbmscope
