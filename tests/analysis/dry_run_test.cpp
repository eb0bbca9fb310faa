// The verdict of a dry run, from what a run leaves behind.
#include "analysis/judge/dry_run.h"

#include <gtest/gtest.h>

#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

constexpr int killed = 128 + 9;

DryRunFindings run_that_used(std::uint64_t peak_bytes, int exit_code = 0) {
  DryRunFindings found;
  found.machine.device_bytes = 80 * gib;
  found.exit_code = exit_code;
  found.exit_text = exit_code == killed ? "killed by SIGKILL" : "exit code " + std::to_string(exit_code);
  found.pid = 7;
  found.accounts.peak_bytes[0] = peak_bytes;
  found.accounts.processes.push_back({7, 0, {}});
  found.accounts.processes.front().devices[0].peak_bytes = peak_bytes;
  return found;
}

ProcessReport report_of(std::int64_t pid, const char* type, bool is_out_of_memory) {
  ProcessReport report;
  report.pid = pid;
  report.failure = DryRunFailure{type, "no room for 4.00 GiB", is_out_of_memory, "step", "train.py", 12, pid};
  return report;
}

TEST(DryRun, fits_with_what_the_fullest_device_has_to_spare) {
  const DryRun run = judge_dry_run(run_that_used(50 * gib));
  EXPECT_EQ(run.outcome, DryRunOutcome::fits);
  ASSERT_NE(run.fullest(), nullptr);
  EXPECT_EQ(run.fullest()->spare_bytes(), 30 * gib);
  EXPECT_TRUE(text_from_dry_run(run).starts_with("fits: peak 50.0 GiB of 80.0 GiB")) << text_from_dry_run(run);
}

TEST(DryRun, says_what_is_in_use_before_what_the_framework_took) {
  DryRun run = judge_dry_run(run_that_used(60 * gib));
  FrameworkUse use;
  use.framework = "jax";
  use.peak_in_use_bytes = gib / 2;
  use.peak_pool_bytes = use.limit_bytes = 59 * gib;
  run.needs[0].frameworks = {use};
  EXPECT_TRUE(text_from_dry_run(run).starts_with(
      "fits: in use at most 512 MiB of 80.0 GiB (JAX's pool took 59.0 GiB in advance, in all 60.0 GiB), 58.5 GiB to "
      "spare in the pool\n"))
      << text_from_dry_run(run);
  run.needs[0].frameworks[0].peak_pool_bytes = gib;  // It allocates on demand.
  EXPECT_TRUE(text_from_dry_run(run).starts_with(
      "fits: in use at most 512 MiB of 80.0 GiB (JAX's pool 1.00 GiB, in all 60.0 GiB)"))
      << text_from_dry_run(run);
  run.needs[0].processes = 2;  // Each has its own pool; only the sum is comparable.
  EXPECT_TRUE(
      text_from_dry_run(run).starts_with("fits: peak 60.0 GiB of 80.0 GiB (2 processes: JAX's pool 1.00 GiB, in use"))
      << text_from_dry_run(run);
}

TEST(DryRun, of_a_program_that_used_no_device_is_unknown_with_the_doubt) {
  DryRunFindings found = run_that_used(0);
  found.doubt = "JAX_PLATFORMS is cpu";
  const DryRun run = judge_dry_run(found);
  EXPECT_EQ(run.outcome, DryRunOutcome::unknown);
  EXPECT_EQ(run.reason, "no process of the command used an emulated device: JAX_PLATFORMS is cpu");
}

TEST(DryRun, that_ended_early_may_need_more) {
  const DryRun run = judge_dry_run(run_that_used(50 * gib, killed));
  EXPECT_EQ(run.outcome, DryRunOutcome::failed);
  EXPECT_EQ(run.reason, "killed by SIGKILL");
  DryRunFindings interrupted = run_that_used(50 * gib, 130);
  interrupted.is_interrupted = true;
  EXPECT_EQ(judge_dry_run(interrupted).outcome, DryRunOutcome::unknown);
}

// PyTorch asks for much that it can do without: only an error of CUDA is put down to that.
TEST(DryRun, an_error_of_cuda_names_the_function_that_is_not_emulated) {
  DryRunFindings found = run_that_used(gib, 1);
  found.reports = {report_of(7, "RuntimeError", false)};
  found.reports[0].not_emulated = {"cuFirst", "cudnnGetRNNWeightSpaceSize"};
  found.reports[0].failure->text = "cuDNN error: CUDNN_STATUS_NOT_SUPPORTED";
  const DryRun run = judge_dry_run(found);
  EXPECT_EQ(run.called_in_vain.front(), "cudnnGetRNNWeightSpaceSize");
  EXPECT_NE(text_from_dry_run(run).find("; it needs cudnnGetRNNWeightSpaceSize, which is not emulated\n"),
            std::string::npos)
      << text_from_dry_run(run);
  found.reports[0].failure->text = "cuDNN version incompatibility";
  found.reports[0].not_emulated = {"cudnnRNNForward", "cuLogsRegisterCallback"};
  EXPECT_NE(text_from_dry_run(judge_dry_run(found)).find("; it needs cudnnRNNForward,"), std::string::npos);
  found.reports[0].not_emulated = {"cuLogsRegisterCallback"};
  EXPECT_EQ(text_from_dry_run(judge_dry_run(found)).find("emulated\n"), std::string::npos);
  found.reports[0].failure->text = "a batch of 3 is odd";
  EXPECT_EQ(text_from_dry_run(judge_dry_run(found)).find("emulated\n"), std::string::npos);
}

TEST(DryRun, of_two_failures_the_lack_of_memory_decides) {
  DryRunFindings found = run_that_used(79 * gib, 1);
  found.reports = {report_of(7, "RuntimeError", false), report_of(8, "OutOfMemoryError", true)};
  const DryRun run = judge_dry_run(found);
  EXPECT_EQ(run.outcome, DryRunOutcome::out_of_memory);
  EXPECT_EQ(run.failure->pid, 8);
  EXPECT_TRUE(text_from_dry_run(run).starts_with("out of memory: no room for 4.00 GiB (step, train.py:12)"));
}

TEST(DryRun, a_refusal_by_the_driver_without_an_exception_is_lack_of_memory) {
  DryRunFindings found = run_that_used(79 * gib, killed);
  found.accounts.processes.front().devices[0].refused_bytes = 4 * gib;
  const DryRun run = judge_dry_run(found);
  EXPECT_EQ(run.outcome, DryRunOutcome::out_of_memory);
  EXPECT_EQ(run.failure->text, "the driver refused 4.00 GiB on GPU 0");
}

TEST(DryRun, that_went_on_after_a_refusal_fits_and_says_so) {
  DryRunFindings found = run_that_used(79 * gib);
  found.accounts.processes.front().devices[0].refused_bytes = 4 * gib;
  const DryRun run = judge_dry_run(found);
  EXPECT_EQ(run.outcome, DryRunOutcome::fits);
  EXPECT_EQ(run.survived, "the driver refused 4.00 GiB on GPU 0");
}

// JAX returns before it computes, and raises a failure where a value is read. A program that reads none ends well.
TEST(DryRun, what_jax_had_no_room_for_and_nobody_read_is_lack_of_memory) {
  TraceBuilder builder;
  builder.writer.add_job_fact("process", "7");
  builder.run_out(builder.pool("GPU_0_bfc", 0), 4 * gib);
  builder.writer.flush();
  DryRunFindings found = run_that_used(60 * gib);
  auto at_end = source_at(std::make_shared<const Trace>(std::move(builder.trace)), {});
  ASSERT_TRUE(at_end);
  found.at_peak = std::move(*at_end);
  ProcessReport& report = found.reports.emplace_back();
  report.pid = 7;
  EXPECT_EQ(judge_dry_run(found).outcome, DryRunOutcome::fits) << "unknown how often it was raised";
  report.jax_errors = 1;
  const DryRun raised = judge_dry_run(found);
  EXPECT_EQ(raised.outcome, DryRunOutcome::fits);
  EXPECT_EQ(raised.survived, "GPU_0_bfc had no room for 4.00 GiB");
  report.jax_errors = 0;
  const DryRun unread = judge_dry_run(found);
  EXPECT_EQ(unread.outcome, DryRunOutcome::out_of_memory);
  EXPECT_TRUE(unread.survived.empty());
  EXPECT_NE(text_from_dry_run(unread).find("because it never read the result"), std::string::npos);
  report.pid = 8;  // Another process's.
  EXPECT_EQ(judge_dry_run(found).outcome, DryRunOutcome::fits);
}

TEST(DryRun, gates_know_its_figures) {
  const DryRun run = judge_dry_run(run_that_used(50 * gib));
  const auto is_true = [&](const char* condition) {
    const auto failure = find_gate_failure(condition, run);
    return failure && failure->has_value();
  };
  EXPECT_TRUE(is_true("margin<40GiB"));
  EXPECT_FALSE(is_true("peak>60GiB"));
  EXPECT_TRUE(is_true("outcome=fits"));
}

}  // namespace
}  // namespace hbmscope
