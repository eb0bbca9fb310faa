// What logs print about memory again and again: figures over time, and growth by step.
#include <gtest/gtest.h>

#include <string>

#include <fmt/format.h>

#include "analysis/answers/failure.h"
#include "analysis/diagnose/growth.h"
#include "analysis/document/text.h"
#include "analysis/query/chosen_heap.h"
#include "analysis/read/source/read_source.h"

namespace hbmscope {
namespace {

Result<Source> read_printed(const std::string& text) {
  return read_text_source(text, "train.log");
}

std::string answer_to(const std::string& text) {
  const auto source = read_printed(text);
  EXPECT_TRUE(source && source->trace) << text.substr(0, 200);
  return source && source->trace
             ? text_from_document(describe_failures(*source->trace, {0, false}), {.shows_all = true})
             : std::string();
}

void expect_says(const std::string& text, std::string_view words) {
  EXPECT_NE(answer_to(text).find(words), std::string::npos) << words << "\nis not in:\n" << answer_to(text);
}
void expect_never_says(const std::string& text, std::string_view words) {
  EXPECT_EQ(answer_to(text).find(words), std::string::npos) << words << "\nis in:\n" << answer_to(text);
}

// A line for each of `steps`, made of its number.
template <class Line>
std::string log_of(int steps, const Line& line) {
  std::string text;
  for (int step = 0; step < steps; ++step) text += line(step) + "\n";
  return text;
}

constexpr double bytes_of_gib = 1 << 30;

TEST(LogGrowth, of_deepspeed_before_a_failure_is_a_leak) {
  const std::string log =
      "[INFO] [utils.py:781:see_memory_usage] Before creating fp16 partitions\n"
      "[INFO] [utils.py:782:see_memory_usage] MA 0.5 GB         Max_MA 0.5 GB         CA 0.6 GB         Max_CA 1 GB\n" +
      log_of(40,
             [](int step) {
               const double used = 8.0 + 0.25 * step;
               return fmt::format(
                   "[INFO] [utils.py:781:see_memory_usage] after step\n[INFO] [utils.py:782:see_memory_usage] MA "
                   "{:.2f} GB         Max_MA {:.2f} GB         CA {:.2f} GB         Max_CA 21 GB\n[INFO] "
                   "[utils.py:789:see_memory_usage] CPU Virtual Memory:  used = 32.1 GB, percent = 6.4%",
                   used, used + 1, used + 1.5);
             }) +
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 19.50 "
      "GiB of which 120.00 MiB is free. Including non-PyTorch memory, this process has 19.38 GiB memory in use. Of the "
      "allocated memory 18.10 GiB is allocated by PyTorch, and 620.00 MiB is reserved by PyTorch but unallocated.\n";
  expect_says(log, "Leak: 256 MiB more each printed line.");
  expect_says(log, "of 18.1 GiB in all");
  expect_never_says(log, "32.1 GiB");  // Of the host.
}

TEST(LogGrowth, is_counted_by_the_steps_that_a_log_numbers) {
  const auto line = [](int i) {
    return fmt::format("step {} loss 2.{} lr 0.001 gpu mem {:.2f} GB", i * 10, i % 10, 5 + i * 0.03125);
  };
  expect_says(log_of(200, line), "more each step");
  const auto source = read_printed(log_of(200, line));
  const auto outlook = find_outlook(*source->trace, choose_heap(*source->trace, {}));
  ASSERT_TRUE(outlook);
  EXPECT_NEAR(static_cast<double>(outlook->growth.bytes_per_step), 0.003125 * bytes_of_gib, 0.0001 * bytes_of_gib);
  EXPECT_EQ(outlook->growth.each, "step");
}

// Steps without a word about memory: they fit, and one of the same kind didn't.
TEST(LogGrowth, of_steps_that_fit_before_is_possible_where_nothing_says_what_they_took) {
  const std::string failure =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 250.00 MiB. GPU 0 has a total capacity of 8.00 "
      "GiB of which 244.00 MiB is free.\n";
  const auto step = [](int i) { return fmt::format("step {} loss 2.25", i); };
  const auto bar = [](int i) { return fmt::format("Epoch 1:  {}%|#  | {}/100 [00:0{}<01:40, 1.00s/it]", i, i, i); };
  const auto load = [](int i) { return fmt::format("Loading checkpoint shards:  {}%|#  | {}/9 [00:01<00:02]", i, i); };
  expect_says(log_of(19, step) + failure, "Steps before it fit, up to step 18");
  expect_says(log_of(9, bar) + failure, "Steps before it fit, up to step 8");
  expect_says(log_of(9, bar) + failure, "keep less from step to step, if memory grew");
  expect_never_says(log_of(9, load) + failure, "Steps before it");
  expect_never_says(log_of(2, step) + failure, "Steps before it");
  const auto part = [](int i) { return fmt::format("Step {}: a part of the program", i + 1); };
  const auto build = [](int i) { return fmt::format("[{}/9] Building CUDA object norm.cu.o", i); };
  const auto with_memory = [](int i) { return fmt::format("step {} gpu mem {:.2f} GB", i, 5 + i * 0.05); };
  expect_never_says(log_of(3, part) + failure, "Steps before it");
  expect_never_says(log_of(9, build) + failure, "Steps before it");
  expect_never_says(log_of(40, with_memory) + failure, "Steps before it");  // Their figures say more.
}

TEST(LogGrowth, that_rounding_hides_from_one_line_to_the_next_is_found) {
  // 2 MiB a step, printed with two decimals of GiB: one line in five rises.
  const auto line = [](int i) { return fmt::format("iter {} | cuda allocated: {:.2f} GiB", i, 5 + i * 2 / 1024.0); };
  expect_says(log_of(1000, line), "more each iteration");
  expect_says(log_of(1000, line), "2.00 MiB");
}

TEST(LogGrowth, of_more_lines_than_are_kept_is_by_line_all_the_same) {
  const auto line = [](int i) { return fmt::format("cuda allocated: {:.3f} GiB", 5 + i / 1024.0); };
  expect_says(log_of(20'000, line), "1.00 MiB more each printed line");
}

TEST(LogGrowth, is_not_seen_in_what_goes_up_and_down_or_has_stopped) {
  const auto saw = [](int i) { return fmt::format("step {} gpu mem {:.2f} GB", i, 5 + (i % 30) * 0.05); };
  const auto plateau = [](int i) { return fmt::format("step {} gpu mem {:.2f} GB", i, 5 + std::min(i, 50) * 0.05); };
  expect_never_says(log_of(300, saw), "Memory grows");
  expect_never_says(log_of(300, plateau), "Memory grows");
  expect_says(log_of(300, saw), "5.00 GiB in line 1, and 6.45 GiB in line 300.");
}

TEST(LogGrowth, of_nvidia_smi_is_by_device_and_has_its_limit) {
  const std::string list =
      "timestamp, index, memory.used [MiB], memory.total [MiB]\n" + log_of(100, [](int i) {
        return fmt::format(
            "2026/01/02 10:00:00.100, 0, {} MiB, 24576 MiB\n2026/01/02 10:00:00.100, 1, 512 MiB, 24576 MiB",
            4000 + 20 * i);
      });
  expect_says(list,
              "Memory grows: 20.0 MiB more each printed line. At most 929 more printed lines fit below 24.0 GiB.");
  const auto trace = read_printed(list)->trace;
  EXPECT_EQ(heaps_of(*trace).size(), 2U);
  expect_says(
      "| GPU  Name                 | Bus-Id          | Memory-Usage | GPU-Util |\n"
      "|   3  Some card       On    | 00000000:3B:00.0 Off |            0 |\n"
      "| N/A   45C    P0    65W / 300W |  12345MiB / 40960MiB |     99%      Default |\n",
      "all processes, by nvidia-smi, GPU 3: 12.1 GiB in line 3 (of 40.0 GiB).");
  expect_says(
      "# gpu   pwr gtemp    sm   mem    fb  bar1\n# Idx     W     C     %     %    MB    MB\n"
      "    0   111    83    25     7  2048     2\n    1   111    84    18     5  4096     2\n",
      "all processes, by nvidia-smi, GPU 0: 2.00 GiB in line 3. all processes, by nvidia-smi, GPU 1: 4.00 GiB in "
      "line 4.");
}

TEST(LogGrowth, figures_of_frameworks_are_read_as_what_they_are) {
  expect_says(
      "[Rank 0] (after 10 iterations) memory (MB) | allocated: 10240.5 | max allocated: 20480.0 | reserved: "
      "21504.0 | max reserved: 21504.0\n",
      "PyTorch's CUDA allocator: 10.0 GiB in line 1 (20.0 GiB at the peak; 21.0 GiB reserved).");
  expect_says(
      "{'num_allocs': 12, 'bytes_in_use': 1073741824, 'peak_bytes_in_use': 3221225472, 'bytes_limit': "
      "8589934592}\n",
      "JAX's allocator: 1.00 GiB in line 1 (3.00 GiB at the peak).");
  expect_says("{'bytes_in_use': 1073741824,\n 'bytes_limit': 8589934592,\n 'peak_bytes_in_use': 3221225472}\n",
              "JAX's allocator: 1.00 GiB in line 1 (3.00 GiB at the peak).");
  expect_says(
      "|===========================================================================|\n"
      "|                  PyTorch CUDA memory summary, device ID 1                 |\n"
      "|---------------------------------------------------------------------------|\n"
      "|            CUDA OOMs: 0            |        cudaMalloc retries: 0         |\n"
      "|===========================================================================|\n"
      "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n"
      "|---------------------------------------------------------------------------|\n"
      "| Allocated memory      |   2048 MiB |   3072 MiB |   5120 MiB |   3072 MiB |\n"
      "|       from large pool |   2048 MiB |   3072 MiB |   5120 MiB |   3072 MiB |\n"
      "| GPU reserved memory   |   4096 MiB |   4096 MiB |   4096 MiB |      0 B   |\n",
      "PyTorch's CUDA allocator, GPU 1: 2.00 GiB in line 2 (3.00 GiB at the peak; 4.00 GiB reserved).");
  expect_says("2026-01-02 10:00:00 Epoch(train) [1][50/1000] lr: 1e-4 eta: 1:00:00 time: 0.5 memory: 5120 loss: 1.2\n",
              "PyTorch's CUDA allocator, the most so far: 5.00 GiB in line 1.");
  expect_says("ep 1 train, step 10, ctc 4.5, max_size:time 100, mem_usage:cuda:2 12.5GB, 0.5 sec/step\n",
              "PyTorch's CUDA allocator, GPU 2: 12.5 GiB in line 1.");
  expect_says("GPU[1]\t\t: VRAM Total Memory (B): 17179869184\nGPU[1]\t\t: VRAM Total Used Memory (B): 1073741824\n",
              "all processes, by rocm-smi, GPU 1: 1.00 GiB in line 2.");
}

TEST(LogGrowth, shares_of_the_kv_cache_are_bytes_where_its_size_is_known) {
  const std::string usage = log_of(20, [](int i) {
    return fmt::format(
        "INFO Avg prompt throughput: 0.0 tokens/s, Running: 4 reqs, GPU KV cache usage: {}.0%, Prefix "
        "cache hit rate: 0.0%",
        10 + i);
  });
  expect_says(usage, "vLLM's KV cache: 10 % in line 1, and 29 % in line 20.");
  const auto trace = read_printed("INFO Available KV cache memory: 10.00 GiB\n" + usage)->trace;
  bool is_found = false;
  for (const NamedHeap& heap : heaps_of(*trace))
    if (heap.name.find("KV cache") != std::string::npos) {
      is_found = true;
      EXPECT_NEAR(static_cast<double>(trace->streams[0].peak(heap.key.heap).in_use_bytes), 2.9 * bytes_of_gib,
                  0.001 * bytes_of_gib);
    }
  EXPECT_TRUE(is_found);
}

TEST(LogGrowth, a_few_sizes_of_another_kind_are_no_series) {
  const std::string build = log_of(20, [](int i) { return fmt::format("[{}/20] linked libx.so (12.{} MB)", i, i); });
  const auto source = read_printed(build);
  EXPECT_EQ(source->trace->streams[0].definitions().heaps().size(), 1) << "the first one is no heap";
  const std::string host = log_of(20, [](int i) { return fmt::format("step {} RAM used: {} MB", i, 100 + i); });
  const auto of_host = read_printed(host);
  EXPECT_EQ(of_host->trace->streams[0].definitions().heaps().size(), 1);
}

}  // namespace
}  // namespace hbmscope
