// Settings of a job that do not do what their author expects.
#include "analysis/query/job_warnings.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/query/job_facts.h"
#include "collector/wire/reported_names.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

using Facts = std::initializer_list<std::pair<std::string, std::string>>;

void add(TraceBuilder& built, const Facts& facts) {
  for (const auto& [key, value] : facts) built.writer.add_job_fact(key, value);
  built.writer.flush();
}

std::vector<JobWarning> warnings_of(const Facts& facts) {
  TraceBuilder built;
  add(built, facts);
  return find_job_warnings(built.trace);
}

// "kind: text", or "" if there is none.
std::string warning_of(const Facts& facts) {
  std::string text;
  for (const JobWarning& warning : warnings_of(facts)) text += warning.kind + ": " + text_from_warning(warning) + "\n";
  return text;
}

TEST(JobWarnings, none_for_usual_settings) {
  EXPECT_EQ("", warning_of({}));
  EXPECT_EQ("", warning_of({{"variable.XLA_PYTHON_CLIENT_MEM_FRACTION", ".9"},
                            {"variable.XLA_PYTHON_CLIENT_PREALLOCATE", "false"},
                            {"variable.XLA_PYTHON_CLIENT_ALLOCATOR", "BFC"},
                            {"variable.XLA_PYTHON_CLIENT_COLLECTIVE_MEM_SIZE_MB", " 512 "},
                            {"variable.PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"},
                            {"command", "python train.py"}}));
  EXPECT_EQ("",
            warning_of({{"variable.XLA_PYTHON_CLIENT_PREALLOCATE", "true"}, {"variable.XLA_CLIENT_MEM_FRACTION", ""}}));
}

TEST(JobWarnings, a_variable_that_was_set_too_late) {
  EXPECT_EQ(
      "set_too_late: XLA_CLIENT_MEM_FRACTION=.5 was set after JAX had read it and has no effect in this process: it "
      "was not set "
      "before. "
      "Set it before JAX uses a device for the first time, best before `import jax`.\n",
      warning_of({{"late_variable.XLA_CLIENT_MEM_FRACTION", ".5"}}));
  EXPECT_LT(warning_of({{"late_variable.PYTORCH_ALLOC_CONF", std::string(60'000, 'x')}}).size(), 500U);
  EXPECT_EQ(
      "set_too_late: PYTORCH_ALLOC_CONF=b was set after PyTorch had made its pool and has no effect in this process: a "
      "counts. Set it "
      "before `import torch`.\n",
      warning_of({{"variable.PYTORCH_ALLOC_CONF", "a"}, {"late_variable.PYTORCH_ALLOC_CONF", "b"}}));
  EXPECT_EQ(
      "set_too_late: CUDA_VISIBLE_DEVICES was removed after the CUDA driver had been initialized and has no effect in "
      "this process: "
      "0,1 "
      "counts. Set it before the program imports a framework.\n",
      warning_of({{"variable.CUDA_VISIBLE_DEVICES", "0,1"},
                  {"late_variable.CUDA_VISIBLE_DEVICES", std::string(wire::variable_not_set)}}));
}

TEST(JobWarnings, the_last_value_counts) {
  const Facts there_and_back = {{"variable.PYTORCH_ALLOC_CONF", "a"},
                                {"late_variable.PYTORCH_ALLOC_CONF", "b"},
                                {"late_variable.PYTORCH_ALLOC_CONF", "a"}};
  EXPECT_EQ("", warning_of(there_and_back));
  TraceBuilder built;
  add(built, {{"variable.XLA_CLIENT_MEM_FRACTION", ".99"}, {"variable.XLA_CLIENT_MEM_FRACTION", ".5"}});
  EXPECT_TRUE(find_job_warnings(built.trace).empty());
  const auto facts = find_job_facts(built.trace);
  ASSERT_EQ(1U, facts.size());
  EXPECT_EQ((std::vector<std::string>{".5"}), facts[0].values);
}

TEST(JobWarnings, both_fractions) {
  const auto warnings =
      warnings_of({{"variable.XLA_PYTHON_CLIENT_MEM_FRACTION", ".99"}, {"variable.XLA_CLIENT_MEM_FRACTION", "2"}});
  ASSERT_EQ(1U, warnings.size()) << "neither of them counts, so neither is too large";
  EXPECT_EQ("both_fractions", warnings[0].kind);
  EXPECT_NE(std::string::npos, warnings[0].text.find("Remove XLA_PYTHON_CLIENT_MEM_FRACTION")) << warnings[0].text;
}

TEST(JobWarnings, fractions_that_are_too_large_or_no_fractions) {
  const auto kind_of = [](const std::string& fraction, const Facts& more = {}) {
    TraceBuilder built;
    add(built, {{"variable.XLA_PYTHON_CLIENT_MEM_FRACTION", fraction}});
    add(built, more);
    const auto warnings = find_job_warnings(built.trace);
    return warnings.empty() ? "" : warnings[0].kind;
  };
  EXPECT_EQ("", kind_of(".94"));
  EXPECT_EQ("large_fraction", kind_of(".95"));
  EXPECT_EQ("large_fraction", kind_of("1"));
  EXPECT_EQ("bad_value", kind_of("1.5"));
  EXPECT_EQ("", kind_of("1.5", {{"variable.TF_FORCE_UNIFIED_MEMORY", "1"}}));
  EXPECT_EQ("", kind_of("1.5", {{"variable.XLA_PYTHON_CLIENT_ALLOCATOR", "Platform"}}));
  for (const char* bad : {"0", "-1", "nan", "75%", "abc"}) EXPECT_EQ("bad_value", kind_of(bad)) << bad;
  EXPECT_EQ(
      "large_fraction: XLA_CLIENT_MEM_FRACTION=.98 leaves 2 % of the device for everything outside of XLA's pool: the "
      "CUDA context, loaded code, and the workspaces of cuBLAS, cuDNN and NCCL. If one of them fails for lack of "
      "memory, "
      "set .9 or less.\n",
      warning_of({{"variable.XLA_CLIENT_MEM_FRACTION", ".98"}}));
}

TEST(JobWarnings, values_that_jax_does_not_know) {
  EXPECT_EQ(
      "bad_value: XLA_PYTHON_CLIENT_PREALLOCATE=FALSE means true to JAX, which takes its whole pool at once: set "
      "XLA_PYTHON_CLIENT_PREALLOCATE=false.\n",
      warning_of({{"variable.XLA_PYTHON_CLIENT_PREALLOCATE", "FALSE"}}));
  EXPECT_NE(std::string::npos,
            warning_of({{"variable.XLA_PYTHON_CLIENT_ALLOCATOR", "cudaMallocAsync"}}).find("names no allocator"));
  EXPECT_NE(std::string::npos,
            warning_of({{"variable.XLA_PYTHON_CLIENT_COLLECTIVE_MEM_SIZE_MB", "1.5"}}).find("not a whole number"));
}

TEST(JobWarnings, an_environment_that_keeps_jax_off_the_gpu) {
  const auto warnings = find_environment_warnings([](const char* name) -> const char* {
    const std::string_view variable = name;
    return variable == "XLA_PYTHON_CLIENT_ALLOCATOR" ? "none" : variable == "XLA_CLIENT_MEM_FRACTION" ? "1" : nullptr;
  });
  ASSERT_EQ(2U, warnings.size());
  EXPECT_FALSE(warnings[0].keeps_jax_off_the_gpu) << warnings[0].text;
  EXPECT_TRUE(warnings[1].keeps_jax_off_the_gpu) << warnings[1].text;
}

TEST(JobWarnings, processes_with_the_same_one_are_counted) {
  TraceBuilder built;
  add(built, {{"variable.XLA_CLIENT_MEM_FRACTION", "1"}});
  Stream& other = built.trace.streams.emplace_back();
  wire::StreamWriter writer(1, [&](const wire::SharedBlock& block) { EXPECT_EQ(std::nullopt, other.append(block)); });
  writer.add_job_fact("variable.XLA_CLIENT_MEM_FRACTION", "1");
  writer.flush();
  const auto warnings = find_job_warnings(built.trace);
  ASSERT_EQ(1U, warnings.size());
  EXPECT_TRUE(text_from_warning(warnings[0]).ends_with("(2 processes)"));
}

}  // namespace
}  // namespace hbmscope
