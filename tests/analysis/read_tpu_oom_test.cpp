// TPU out-of-memory texts: hand-written ones, and the real ones of the data folder if it is available.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "analysis/diagnose/diagnosis.h"
#include "analysis/read/tpu_oom/read_tpu_oom.h"
#include "analysis/read/tpu_oom/tpu_report.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

Trace report_trace(const std::string& text) {
  auto trace = read_tpu_oom(text, "log");
  EXPECT_TRUE(trace) << trace.error().what;
  return std::move(*trace);
}

const std::string long_report = R"(step 11
RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 40.00M of 32.00M hbm. Exceeded hbm capacity by 8.00M.

(worker pid=7) Total hbm usage >= 284.00M:
(worker pid=7)     reserved        256.00M
(worker pid=7)     program          24.00M
(worker pid=7)     arguments         4.00M

Output size 16.00M; shares 4.00M with arguments.

Program hbm requirement 24.00M:
    scoped            512.0K
    HLO temp         20.50M (80.0% utilization: Unpadded (12.00M) Padded (15.00M), 26.8% fragmentation (5.50M))
    overlays          3.00M

  Largest program allocations in hbm:

  1. Size: 12.00M
     Operator: op_name="jit(step)/jvp()/dot" source_file="/home/me/train.py" source_line=41
     Shape: f32[1000,3]{1,0:T(8,128)}
     Unpadded size: 12.0K
     Extra memory due to padding: 11.99M (1024.0x expansion)
     XLA label: fusion.7 = fusion(a, b), kind=kOutput
     Allocation type: HLO temp
     ==========================
step 12
)";

TEST(TpuOom, the_long_report_is_a_heap_that_adds_up) {
  const Trace trace = report_trace(long_report);
  const Stream& stream = trace.streams.front();
  const auto failures = compute_failure_rows(trace);
  ASSERT_EQ(failures.size(), 1);
  const FailureRow& row = failures.front();
  EXPECT_EQ(row.memory_space, "hbm");
  EXPECT_EQ(row.requested_bytes, 40 * mib);
  EXPECT_EQ(row.used_bytes, 40 * mib);
  EXPECT_EQ(row.limit_bytes, 32 * mib);
  EXPECT_FALSE(row.total_free_bytes);
  // Reserved, program, arguments, and what of the output shares nothing with them.
  EXPECT_EQ(stream.last_state().in_use_bytes(1), (256 + 24 + 4 + 12) * mib);
  EXPECT_EQ(trace.import.count_of("sums_checked"), 5);
  EXPECT_EQ(trace.import.count_of("sums_differ"), 0);
  EXPECT_EQ(trace.import.count_of("text_cut"), 0);
  std::size_t found = 0;
  for (const LiveBlock& block : stream.last_state().slots()) {
    if (!block.is_live() || stream.definitions().text(block.tag) != "fusion.7") continue;
    ++found;
    EXPECT_EQ(block.size, 12 * mib);
    EXPECT_EQ(block.requested, 12 * kib);
    EXPECT_NE(block.stack, 0);
  }
  EXPECT_EQ(found, 1);
}

TEST(TpuOom, figures_that_do_not_add_up_are_named) {
  std::string text = long_report;
  text.replace(text.find("program          24.00M"), 23, "program          29.00M");
  const Trace trace = report_trace(text);
  EXPECT_GT(trace.import.count_of("sums_differ"), 0);
}

TEST(TpuOom, a_report_that_ends_early_says_what_is_missing) {
  for (const char* end : {"Program hbm requirement", "Largest program", "Extra memory"}) {
    const Trace trace = report_trace(long_report.substr(0, long_report.find(end)));
    EXPECT_GT(trace.import.count_of("text_cut"), 0) << end;
    EXPECT_EQ(trace.import.count_of("sums_differ"), 0) << end;
    EXPECT_EQ(trace.streams.front().failures().size(), 1) << end;
  }
}

TEST(TpuOom, a_repeat_is_not_added) {
  const std::string headline = "\nRan out of memory in memory space hbm. Used 40.00M of 32.00M hbm.\n";
  const Trace trace = report_trace(long_report + headline);
  EXPECT_EQ(trace.streams.front().failures().size(), 1);
}

struct Case {
  const char* name;
  const char* text;
  const char* memory_space;
  std::uint64_t requested;
  std::optional<std::uint64_t> limit, available, free, largest_free;
  Cause cause;
};

class TpuOomForm : public testing::TestWithParam<Case> {};

TEST_P(TpuOomForm, gives_its_figures) {
  const Case& expected = GetParam();
  const Trace trace = report_trace(std::string("before\n[0] ") + expected.text + "\nafter\n");
  const auto failures = compute_failure_rows(trace);
  ASSERT_EQ(failures.size(), 1);
  const FailureRow& row = failures.front();
  EXPECT_EQ(row.memory_space, expected.memory_space);
  EXPECT_EQ(row.requested_bytes, expected.requested);
  EXPECT_EQ(row.limit_bytes, expected.limit);
  EXPECT_EQ(row.available_bytes, expected.available);
  EXPECT_EQ(row.total_free_bytes, expected.free);
  EXPECT_EQ(row.largest_free_bytes, expected.largest_free);
  const Diagnosis found = diagnose(trace, {0, 0}, Depth::brief);
  EXPECT_EQ(text_from_cause(found.cause.cause), text_from_cause(expected.cause));
  EXPECT_FALSE(found.cause.sentence.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, TpuOomForm,
    testing::Values(
        Case{"required",
             "Ran out of memory on HBM, the total memory required for HLO temporaries (256.00M) exceeds available HBM "
             "(64.00M). HLO module: jit_f.",
             "hbm",
             256 * mib,
             64 * mib,
             {},
             {},
             {},
             Cause::too_big},
        Case{"scoped",
             "Ran out of memory in memory space vmem\nwhile allocating on stack for %k.1 = f32[8]{0} custom-call(%a).\n"
             "Scoped allocation with size 64.00M and limit 16.00M exceeded scoped vmem limit by 48.00M.",
             "vmem",
             64 * mib,
             16 * mib,
             {},
             {},
             {},
             Cause::too_big},
        Case{"allocation",
             "Allocation (size=400000) would exceed memory (size=2048) :: #allocation3 [shape = 's32[100000]{0}', "
             "space=sflag, size = 0x61a80, scoped, tag = 'scratch operand'] :: kernel.1",
             "sflag",
             400'000,
             2048,
             {},
             {},
             {},
             Cause::too_big},
        Case{"cores",
             "TPU TensorCore Hbm usage: 34.00G, SparseCore Hbm usage 174.00G, exceeding available bytes: 95.00G",
             "hbm",
             208 * gib,
             95 * gib,
             {},
             {},
             {},
             Cause::too_big},
        Case{"early",
             "Compilation failure: Aborting compilation early because it's unlikely to have enough memory. Requires "
             "3.50T, has 90.00G available. If more detailed logging is desired, set "
             "--xla_tpu_impure_oom_fast_exit_threshold=-1",
             "hbm",
             3584 * gib,
             90 * gib,
             {},
             {},
             {},
             Cause::too_big},
        Case{"buffer",
             "Error allocating device buffer: Attempting to allocate 8.00M. That was not possible. There are 9.00M "
             "free. Due to fragmentation, the largest contiguous region of free memory is 16.0K.; (0x0x1_HBM0)",
             "hbm",
             8 * mib,
             {},
             {},
             9 * mib,
             16 * kib,
             Cause::fragmentation},
        Case{"program",
             "Error loading program 'jit_x': Attempting to reserve 13.50G at the bottom of memory. That was not "
             "possible. There are 7.50G free, 0B reserved, and 7.25G reservable.",
             "hbm",
             27 * gib / 2,
             {},
             {},
             15 * gib / 2,
             29 * gib / 4,
             Cause::too_big},
        Case{"could_not",
             "Could not allocate 10485760 bytes in memory 0x0x0_HBM0; 4374528 bytes allocatable, 14942208 "
             "bytes available",
             "hbm",
             10'485'760,
             {},
             {},
             14'942'208,
             4'374'528,
             Cause::fragmentation},
        Case{"sparse",
             "'memref.alloca' op current allocation offset upper bound (140704 words) exceeds the legitimate user "
             "allocatable offset upper bound (131071 words) in memory space 201 when allocating 23440 words",
             "tilespmem",
             93'760,
             524'284,
             {},
             {},
             {},
             Cause::pool_limit}),
    [](const auto& of) { return std::string(of.param.name); });

TEST(TpuOom, a_devices_statistics_are_a_heap_and_no_failure) {
  const Trace trace = report_trace(
      " Num Allocs: 44\n In Use: 2.500 GiB\n Peak In Use: 2.500 GiB\n Largest Alloc Size: 180.000 MiB\n"
      " Limit: 31.000 GiB\n Reserved: 27.000 GiB\n Largest Free Block: 1.500 GiB\n");
  EXPECT_TRUE(trace.streams.front().failures().size() == 0);
  EXPECT_EQ(trace.streams.front().last_state().in_use_bytes(1), 59 * gib / 2);
  EXPECT_EQ(trace.import.count_of("sums_differ"), 0);
}

TEST(TpuOom, what_is_no_report_is_refused) {
  for (const char* text : {"", "Ran out of patience", "ran out of memory trying to allocate 2.00GiB",
                           "Attempting to allocate 8.00M.", "Allocation (size=x) would exceed memory (size=2)"}) {
    EXPECT_TRUE(tpu_oom::find_reports(text, 1).empty()) << text;
    EXPECT_FALSE(read_tpu_oom(text, "log")) << text;
  }
}

std::vector<std::filesystem::path> real_texts() {
  const char* named = std::getenv("HBMSCOPE_DATA");
  const std::filesystem::path data = named != nullptr ? named : "../shared/data";
  std::vector<std::filesystem::path> texts;
  std::error_code error;
  for (const char* folder : {"oom/tpu", "tpu/aot/oom"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data / folder, error))
      if (entry.path().extension() == ".txt") texts.push_back(entry.path());
  return texts;
}

TEST(TpuOomRecorded, all_texts_are_read_and_their_sums_hold) {
  const auto texts = real_texts();
  if (texts.empty()) GTEST_SKIP() << "no TPU texts in ../shared/data/oom/tpu (HBMSCOPE_DATA names the folder)";
  for (const auto& path : texts) {
    SCOPED_TRACE(path.string());
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto reports = tpu_oom::find_reports(text, 1000);
    ASSERT_FALSE(reports.empty());
    for (const tpu_oom::Report& report : reports) {
      EXPECT_TRUE(tpu_oom::check_report(report).differences.empty()) << report.headline;
      EXPECT_FALSE(report.memory_space.empty());
    }
    const Trace trace = report_trace(text);
    EXPECT_EQ(trace.import.count_of("encoding"), 0);
    EXPECT_EQ(trace.import.count_of("sums_differ"), 0);
    const bool is_statistics = reports.front().form == tpu_oom::Form::statistics;
    EXPECT_EQ(compute_failure_rows(trace).empty(), is_statistics);
  }
}

}  // namespace
}  // namespace hbmscope
