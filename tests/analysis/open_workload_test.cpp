// A workload file as it is opened: known by its content, emulated, in plain words, and emulated again with changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "analysis/query/workload_verdict.h"
#include "analysis/read/source/read_source.h"

namespace hbmscope {
namespace {

const std::string samples = HBMSCOPE_SAMPLES "/tpu/";

Source opened(const std::string& name, const std::vector<std::string>& words = {}) {
  SourceOptions options;
  for (const std::string& word : words) options.what_if.push_back(*parse_workload_change(word));
  auto source = read_source(samples + name, options);
  EXPECT_TRUE(source) << source.error().text();
  return source ? *source : Source{};
}

std::string error_of(const std::string& text, const std::vector<WorkloadChange>& changes = {}) {
  const auto file = std::filesystem::path(testing::TempDir()) / "broken.json";
  std::ofstream(file) << text;
  SourceOptions options;
  options.what_if = changes;
  const auto source = read_source(file.string(), options);
  return source ? "no error" : source.error().text();
}

std::vector<std::string> heaps_of(const Trace& trace) {
  std::vector<std::string> names;
  for (const HeapInfo& heap : trace.streams.front().definitions().heaps())
    if (heap.id != 0) names.push_back(heap.name);
  return names;
}

TEST(OpenWorkload, a_workload_is_known_by_its_content_and_is_the_trace_of_its_emulation) {
  const Source source = opened("matmul_buffers.json");
  ASSERT_NE(nullptr, source.workload);
  ASSERT_EQ(source.trace, source.workload->trace);
  EXPECT_EQ((std::vector<std::string>{"HBM", "VMEM", "Blocks in VMEM"}), heaps_of(*source.trace));
  EXPECT_TRUE(source.workload->now->emulation.events.empty()) << "they are the trace's";
  EXPECT_EQ(source.workload->now, source.workload->as_written);
  EXPECT_EQ(nullptr, opened("../leak_step_010.pprof.gz").workload);
}

TEST(OpenWorkload, what_is_wrong_with_a_file_has_its_line) {
  EXPECT_NE(std::string::npos,
            error_of("{\n \"hbmscope_tpu_workload\": 1,\n \"name\": }").find("line 3: this is no JSON"));
  const std::string unknown = error_of("{\"hbmscope_tpu_workload\": 1,\n\n \"generation\": \"v99\"}");
  EXPECT_NE(std::string::npos, unknown.find("line 3 (generation): there is no TPU generation 'v99'")) << unknown;
}

TEST(OpenWorkload, a_change_of_what_is_not_there_is_refused) {
  EXPECT_NE(std::string::npos,
            error_of("{\"hbmscope_tpu_workload\": 1, \"steps\": []}", {{"layers", "3"}}).find("no 'layers' to change"));
  EXPECT_FALSE(parse_workload_change("=3"));
  SourceOptions options;
  options.what_if = {{"layers", "3"}};
  const auto profile = read_source(HBMSCOPE_SAMPLES "/leak_step_010.pprof.gz", options);
  ASSERT_FALSE(profile);
  EXPECT_EQ("only a workload file has something to change", profile.error().what);
}

TEST(OpenWorkload, knobs_are_all_that_the_file_has_with_what_it_says) {
  const std::vector<WorkloadKnob> knobs = opened("fsdp.json", {"mesh.fsdp=4"}).workload->knobs;
  const auto find = [&](std::string_view key) {
    for (const WorkloadKnob& knob : knobs)
      if (knob.key == key) return knob;
    return WorkloadKnob{};
  };
  EXPECT_EQ("8", find("mesh.fsdp").written);
  EXPECT_EQ(KnobKind::choice, find("generation").kind);
  EXPECT_EQ("v5e", find("generation").written);
  EXPECT_EQ("full", find("checkpointing").written);
  EXPECT_EQ("on", find("donation").written);
  EXPECT_EQ("16384", find("tokens").written);
  EXPECT_TRUE(find("tokens").is_worked_out);
  EXPECT_FALSE(find("batch").is_worked_out);
}

TEST(WorkloadVerdict, a_program_that_is_too_large_is_over_by_what_it_lacks) {
  const Source source = opened("fsdp.json", {"mesh.fsdp=4"});
  const EmulatedWorkload& run = *source.workload->now;
  const WorkloadVerdict verdict = verdict_of(run);
  ASSERT_FALSE(verdict.fits);
  EXPECT_TRUE(verdict_of(*source.workload->as_written).fits);
  ASSERT_EQ(1U, verdict.reasons.size());
  const auto& failure = run.emulation.failures.front();
  EXPECT_EQ(failure.text, verdict.reasons[0].text);
  const std::vector<TierRow> tiers = compute_tier_rows(run);
  ASSERT_EQ("hbm", tiers.front().name);
  ASSERT_TRUE(tiers.front().over_bytes);
  EXPECT_GT(*tiers.front().over_bytes, 0U);
  EXPECT_EQ(0U, text_of_room(tiers.front()).find("over by "));
  EXPECT_NE(std::string::npos, verdict.reasons[0].sentence.find(text_of_room(tiers.front())))
      << verdict.reasons[0].sentence;
}

TEST(WorkloadVerdict, a_kernel_is_held_against_its_limit) {
  const Source source = opened("flash_attention.json", {"block_q=2048", "block_k=2048"});
  const WorkloadVerdict verdict = verdict_of(*source.workload->now);
  ASSERT_EQ(1U, verdict.reasons.size());
  const std::string& sentence = verdict.reasons[0].sentence;
  EXPECT_EQ(0U, sentence.find("kernel flash_attention needs ")) << sentence;
  EXPECT_NE(std::string::npos, sentence.find(" of VMEM; a kernel may have 16.0 MiB: over by ")) << sentence;
}

TEST(WorkloadVerdict, scattered_memory_is_short_of_a_piece) {
  const Source source = opened("server.json", {"defragmentation=off"});
  const WorkloadVerdict verdict = verdict_of(*source.workload->now);
  ASSERT_FALSE(verdict.fits);
  const auto scattered = std::find_if(verdict.reasons.begin(), verdict.reasons.end(), [](const WorkloadReason& reason) {
    return reason.sentence.find("but the largest piece") != std::string::npos;
  });
  ASSERT_NE(verdict.reasons.end(), scattered);
  EXPECT_NE(std::string::npos, scattered->sentence.find(" short.")) << scattered->sentence;
}

TEST(WorkloadVerdict, only_what_is_other_is_a_difference) {
  const Source source = opened("decoder_training.json", {"checkpointing=none"});
  const auto& workload = *source.workload;
  const auto differences = compare_workloads(*workload.now, *workload.as_written);
  ASSERT_FALSE(differences.empty());
  for (const WorkloadDifference& each : differences)
    EXPECT_TRUE(!each.now || !each.was || each.now->value != each.was->value) << each.of << " " << each.name;
  EXPECT_TRUE(
      std::any_of(differences.begin(), differences.end(), [](const auto& each) { return each.name == "temp"; }));
  EXPECT_TRUE(
      std::none_of(differences.begin(), differences.end(), [](const auto& each) { return each.name == "argument"; }));
  EXPECT_TRUE(compare_workloads(*workload.now, *workload.now).empty());
}

}  // namespace
}  // namespace hbmscope
