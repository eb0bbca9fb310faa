// A replay says what fits only if, under the job's own settings, it fails where the job did.
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "analysis/diagnose/diagnosis.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/whatif/what_if.h"
#include "tests/analysis/log_texts.h"
#include "tests/analysis/recorded_requests.h"
#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

struct Answer {
  WhatIfSource source;
  std::vector<WhatIfRow> rows;
  std::string missing;

  const WhatIfRow& own() const { return rows.front(); }
  std::size_t count(WhatIfVerdict verdict) const {
    return static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [&](const WhatIfRow& row) { return row.verdict == verdict; }));
  }
};

Answer answer_of(const Trace& trace, const WhatIfChoice& choice = {}) {
  auto source = find_what_if_source(trace, choice);
  EXPECT_TRUE(source) << source.error().text();
  PassControl control;
  Answer answer{std::move(*source), {}, {}};
  answer.rows = run_what_if(answer.source, usual_scenarios(answer.source.own), control);
  answer.missing = text_from_missing(answer.source, answer.rows);
  return answer;
}

void expect_not_reproduced(const Answer& answer, std::string_view missing) {
  EXPECT_EQ(answer.count(WhatIfVerdict::not_reproduced), answer.rows.size());
  for (const WhatIfRow& row : answer.rows) {
    EXPECT_FALSE(row.fits()) << row.scenario.name;
    EXPECT_EQ(text_from_fits(row), "not reproduced");
  }
  EXPECT_TRUE(answer.missing.starts_with("Not reproduced: a request of ")) << answer.missing;
  EXPECT_NE(answer.missing.find(missing), std::string::npos) << answer.missing;
}

// Not that any setting would have helped: it is about explain, whose advice rests on the same replays.
void expect_nothing_proved(const Trace& trace) {
  for (const FailedRequest& failed : find_failed_requests(trace))
    for (const Advice& one : diagnose(trace, failed, Depth::full).advice) {
      EXPECT_NE(one.proof, AdviceProof::replayed) << one.change;
      EXPECT_TRUE(one.proof_text.empty()) << one.proof_text;
    }
}

std::string torch_text(std::string_view requested, std::string_view free, std::string_view allocated,
                       std::string_view unallocated) {
  return fmt::format(
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate {}. GPU 0 has a total capacity of 16.00 GiB "
      "of which {} is free. Of the allocated memory {} is allocated by PyTorch, and {} is reserved by PyTorch but "
      "unallocated.\n",
      requested, free, allocated, unallocated);
}

TEST(Reproduction, of_a_text_with_one_failure_that_the_replay_serves_is_none) {
  const Trace trace = tests::trace_of(torch_text("48.00 MiB", "32.00 MiB", "6.00 GiB", "1.00 GiB"));
  const Answer answer = answer_of(trace);
  EXPECT_TRUE(answer.source.own.is_outside_known);
  EXPECT_EQ(answer.source.own.outside_bytes, 9 * gib - 32 * mib);  // 16 GiB - 7 GiB of the pool - what is free.
  EXPECT_FALSE(answer.source.is_checked()) << "it has no addresses";
  EXPECT_EQ(text_from_check(answer.source).find("address for address"), std::string::npos);
  expect_not_reproduced(answer, "an error text has no requests to replay; record the job: hbmscope run -- COMMAND");
  expect_nothing_proved(trace);
}

TEST(Reproduction, of_a_text_whose_figures_are_enough_says_what_fits_and_nothing_is_checked) {
  const Trace trace = tests::trace_of(torch_text("5.00 GiB", "1.00 GiB", "12.00 GiB", "2.00 GiB"));
  const Answer answer = answer_of(trace);
  EXPECT_EQ(answer.missing, "");
  EXPECT_EQ(answer.own().verdict, WhatIfVerdict::does_not_fit);
  EXPECT_GT(answer.count(WhatIfVerdict::fits), 0U) << "a larger device";
  for (const WhatIfRow& row : answer.rows) EXPECT_EQ(row.confidence, Confidence::approximate) << row.scenario.name;
  expect_nothing_proved(trace);
}

TEST(Reproduction, of_two_failures_needs_the_first_and_both) {
  const std::string large = torch_text("5.00 GiB", "1.00 GiB", "12.00 GiB", "2.00 GiB"),
                    small = torch_text("48.00 MiB", "32.00 MiB", "6.00 GiB", "1.00 GiB");
  std::string between;  // Texts that follow one another are of one failure.
  for (int step = 0; step < 40; ++step) between += fmt::format("step {} loss 1.25\n", step);
  for (const std::string& text : {small + between + large, large + between + small}) {
    const Answer answer = answer_of(tests::trace_of(text));
    EXPECT_EQ(answer.source.requests.failures.size(), 2U);
    expect_not_reproduced(answer, "an error text has no requests to replay");
  }
}

TEST(Reproduction, of_a_text_of_another_allocator_is_not_tried) {
  for (const char* text :
       {"ERROR 04-01 10:00:00 engine.py:400] ValueError: No available memory for the cache blocks. Try increasing "
        "`gpu_memory_utilization` when initializing the engine.\n",
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`\n"}) {
    const Trace trace = tests::trace_of(text);
    ASSERT_FALSE(find_failed_requests(trace).empty()) << text;
    const auto source = find_what_if_source(trace, {std::nullopt, std::nullopt, 80 * gib});
    ASSERT_FALSE(source) << text_from_own_settings(source->own);
    EXPECT_NE(source.error().text().find("has no requests to replay. Record the job"), std::string::npos)
        << source.error().text();
  }
}

TEST(Reproduction, of_a_bfc_log_with_its_chunks) {
  // 2 MiB do not fit in a pool of 4 MiB of which 3 MiB are in use, wherever they are.
  const Answer full =
      answer_of(tests::trace_of(tests::joined(tests::bfc_lines())), {std::nullopt, std::nullopt, std::nullopt, gib});
  EXPECT_EQ(full.missing, "");
  EXPECT_EQ(full.own().verdict, WhatIfVerdict::does_not_fit);
  EXPECT_GT(full.count(WhatIfVerdict::fits), 0U);
  // With 1 MiB less in use, what is free is enough but in two places, which a replay of the list can't bring about.
  std::string lines = tests::joined(tests::bfc_lines());
  const auto replace = [&](std::string_view old, std::string_view now) {
    const std::size_t at = lines.find(old);
    ASSERT_NE(at, std::string::npos) << old;
    lines.replace(at, old.size(), now);
  };
  replace("7f0000200000 of size 2097152 next 18446744073709551615",
          "7f0000200000 of size 1048576 next 3\nW1124 23:15:32.990199   29543 bfc_allocator.cc:1148] Free  at "
          "7f0000300000 of size 1048576 next 18446744073709551615");
  replace("Sum Total of in-use chunks: 3.00MiB", "Sum Total of in-use chunks: 2.00MiB");
  replace("InUse:                         3145728", "InUse:                         2097152");
  const Trace trace = tests::trace_of(lines);
  ASSERT_EQ(diagnose(trace, find_failed_requests(trace).front(), Depth::brief).cause.cause, Cause::fragmentation);
  const Answer split = answer_of(trace, {std::nullopt, std::nullopt, std::nullopt, gib});
  EXPECT_EQ(split.source.requests.lived_before, 2U);
  expect_not_reproduced(split, "a log lists the blocks at the failure, and not the requests before it; record the job");
  expect_nothing_proved(trace);
}

TEST(Reproduction, of_a_recording_that_replays_leaves_its_answers) {
  std::size_t failed = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const Recorded trace(random_requests(seed, 66 * gib, 300), {"", "classic_align", {}, 80 * gib});
    if (find_failed_requests(trace).empty()) continue;
    ++failed;
    const Answer answer = answer_of(trace);
    EXPECT_EQ(answer.missing, "") << seed;
    EXPECT_EQ(answer.own().verdict, WhatIfVerdict::does_not_fit) << seed;
    EXPECT_EQ(answer.own().confidence, Confidence::checked) << seed;
    EXPECT_EQ(answer.count(WhatIfVerdict::not_reproduced), 0U) << seed;
  }
  EXPECT_GT(failed, 0U);
}

// Half of the device was another process's, and the recording does not say so.
TEST(Reproduction, of_a_recording_that_lacks_what_else_took_the_device) {
  TraceBuilder builder;
  const std::uint32_t heap =
      builder.pool("GPU 0 PyTorch pool",
                   wire::heap_flag::has_addresses | wire::heap_flag::has_regions | wire::heap_flag::has_requested);
  builder.counter(heap, reported_figure::device, 16 * gib);
  for (std::uint64_t i = 0; i < 4; ++i) {
    builder.grow(heap, (1 + 2 * i) * gib, gib);
    builder.alloc(heap, (1 + 2 * i) * gib, gib);
  }
  builder.run_out(heap, 5 * gib);
  builder.writer.flush();
  const Answer answer = answer_of(builder.trace);
  EXPECT_FALSE(answer.source.own.is_outside_known);
  expect_not_reproduced(answer, "what else took memory of the device is unknown; give it: --outside SIZE");
  expect_nothing_proved(builder.trace);
}

TEST(Reproduction, of_a_job_without_a_failure_is_not_asked_for) {
  const Recorded trace(random_requests(1, 40 * gib), {"", "classic_align", {}, 80 * gib});
  ASSERT_TRUE(find_failed_requests(trace).empty());
  const Answer answer = answer_of(trace);
  EXPECT_EQ(answer.missing, "");
  EXPECT_TRUE(answer.own().fits());
}

}  // namespace
}  // namespace hbmscope
