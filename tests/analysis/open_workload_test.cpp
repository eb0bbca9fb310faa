// A workload file as it is opened: known by its content, emulated, in plain words, and emulated again with changes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "analysis/diagnose/program_advice.h"
#include "analysis/query/chosen_heap.h"
#include "analysis/query/workload_verdict.h"
#include "analysis/read/source/read_source.h"
#include "analysis/read/tpu_workload/open_workload.h"
#include "analysis/read/tpu_workload/read_tpu_workload.h"
#include "analysis/units/format.h"

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
  // Each test is a separate process, and they run concurrently.
  const auto file = std::filesystem::path(testing::TempDir()) / ("broken_" + std::to_string(getpid()) + ".json");
  std::ofstream(file) << text;
  SourceOptions options;
  options.what_if = changes;
  const auto source = read_source(file.string(), options);
  std::filesystem::remove(file);
  return source ? "no error" : source.error().text();
}

std::vector<std::string> names_of_heaps(const Trace& trace) {
  std::vector<std::string> names;
  for (const HeapInfo& heap : trace.streams.front().definitions().heaps())
    if (heap.id != 0) names.push_back(heap.name);
  return names;
}

TEST(OpenWorkload, a_workload_is_known_by_its_content_and_is_the_trace_of_its_emulation) {
  const Source source = opened("matmul_buffers.json");
  ASSERT_NE(nullptr, source.workload);
  ASSERT_EQ(source.trace, source.workload->trace);
  EXPECT_EQ((std::vector<std::string>{"HBM", "VMEM", "Blocks in VMEM"}), names_of_heaps(*source.trace));
  EXPECT_TRUE(source.workload->now->emulation.events.empty()) << "they are the trace's";
  EXPECT_EQ(source.workload->now, source.workload->unmodified);
  EXPECT_EQ(nullptr, opened("../leak_step_010.pprof.gz").workload);
}

TEST(OpenWorkload, what_is_wrong_with_a_file_has_its_line) {
  EXPECT_NE(std::string::npos,
            error_of("{\n \"hbmscope_tpu_workload\": 1,\n \"name\": }").find("line 3: this is not JSON"));
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
  EXPECT_EQ("only a workload file can be changed", profile.error().what);
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
  const std::string capitals = "{\"hbmscope_tpu_workload\": 1, \"generation\": \"V6E\", \"steps\": []}";
  std::vector<WorkloadKnob> others;
  const auto parsed =
      ParsedWorkload::parse({reinterpret_cast<const std::uint8_t*>(capitals.data()), capitals.size()}, "v6e");
  ASSERT_TRUE(parsed) << parsed.error().text();
  const auto run = emulate_workload(*parsed, {}, false, &others);
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_EQ("v6e", others.front().written);
  EXPECT_EQ("full", find("checkpointing").written);
  EXPECT_EQ("on", find("donation").written);
  EXPECT_EQ("16384", find("tokens").written);
  EXPECT_TRUE(find("tokens").is_computed);
  EXPECT_FALSE(find("batch").is_computed);
}

TEST(OpenWorkload, knobs_of_memory_space_assignment_have_their_kind_and_limits) {
  const std::string text =
      "{\"hbmscope_tpu_workload\": 1, \"steps\": [], \"parameters\": {\"n\": 3},"
      " \"vmem\": {\"picker\": \"count\", \"max_overlap\": 7, \"min_overlap\": \"n - 1\"}}";
  std::vector<WorkloadKnob> knobs;
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  const auto workload = read_tpu_workload(bytes, "a.json", {{"vmem.max_overlap", "9"}}, &knobs);
  ASSERT_TRUE(workload) << workload.error().text();
  EXPECT_EQ(9U, workload->options.vmem.max_overlap);
  EXPECT_EQ(2U, workload->options.vmem.min_overlap);
  const auto find = [&](std::string_view key) {
    return *std::find_if(knobs.begin(), knobs.end(), [&](const WorkloadKnob& knob) { return knob.key == key; });
  };
  EXPECT_EQ("count", find("vmem.picker").written);
  EXPECT_EQ((std::vector<std::string>{"cost", "count"}), find("vmem.picker").choices);
  EXPECT_EQ(KnobKind::number, find("vmem.max_overlap").kind);
  EXPECT_EQ("7", find("vmem.max_overlap").written);
  EXPECT_TRUE(find("vmem.min_overlap").is_computed);
  EXPECT_EQ(16, find("vmem.retries_max").most);
  EXPECT_EQ("", find("vmem.retries_max").written);
  EXPECT_EQ((std::vector<std::string>{"on", "off"}), find("vmem.assignment").choices);
  EXPECT_NE(std::string::npos, error_of(text, {{"vmem.retries_max", "17"}}).find("at most 16"));
  EXPECT_NE(std::string::npos, error_of(text, {{"vmem.retries_max", "0"}}).find("at least 1"));
}

TEST(OpenWorkload, the_extra_pool_is_shown_only_on_request) {
  const Source source = opened("server.json");
  ASSERT_TRUE(compute_workload_verdict(*source.workload->now).fits);
  const Trace& trace = *source.trace;
  const auto name_of = [&](HeapKey heap) { return trace.streams[heap.stream].definitions().heap(heap.heap).name; };
  EXPECT_EQ("HBM", name_of(choose_heap(trace, {})));
  const HeapKey gpu = *find_heap(trace, "GPU_0_bfc");
  EXPECT_EQ("GPU_0_bfc", name_of(choose_heap(trace, gpu)));
  const Stream& stream = trace.streams.front();
  EXPECT_EQ(stream.peak(choose_heap(trace, {}).heap).position, find_moment(trace, "peak")->positions.front());
  // If nothing else fails, "oom" refers to this.
  ASSERT_GT(stream.failures().size(), 0U);
  const FailureEvent last = stream.failures()[stream.failures().size() - 1];
  EXPECT_EQ(gpu.heap, last.heap);
  EXPECT_EQ(last.event, find_moment(trace, "oom")->positions.front());
  // Both fail, and the job's failure counts.
  const Source both = opened("server.json", {"defragmentation=off"});
  EXPECT_EQ("HBM", name_of(choose_heap(*both.trace, {})));
  const auto at = find_moment(*both.trace, "oom")->positions.front();
  const auto& failures = both.trace->streams.front().failures();
  for (std::size_t i = 0; i < failures.size(); ++i)
    EXPECT_FALSE(failures[i].event == at && failures[i].heap == gpu.heap);
}

TEST(WorkloadVerdict, a_program_that_is_too_large_is_over_by_what_it_lacks) {
  const Source source = opened("fsdp.json", {"mesh.fsdp=4"});
  const EmulatedWorkload& run = *source.workload->now;
  const WorkloadVerdict verdict = compute_workload_verdict(run);
  ASSERT_FALSE(verdict.fits);
  EXPECT_TRUE(compute_workload_verdict(*source.workload->unmodified).fits);
  ASSERT_EQ(1U, verdict.reasons.size());
  const auto& failure = run.emulation.failures.front();
  EXPECT_EQ(failure.text, verdict.reasons[0].text);
  const std::vector<TierRow> tiers = compute_tier_rows(run);
  ASSERT_EQ("hbm", tiers.front().name);
  ASSERT_TRUE(tiers.front().over_bytes);
  EXPECT_GT(*tiers.front().over_bytes, 0U);
  EXPECT_EQ(0U, text_from_room(tiers.front()).find("over by "));
  EXPECT_NE(std::string::npos, verdict.reasons[0].sentence.find(text_from_room(tiers.front())))
      << verdict.reasons[0].sentence;
}

TEST(WorkloadVerdict, a_job_that_ends_early_is_over_by_all_that_it_needs) {
  const Source source = opened("fsdp.json", {"mesh.fsdp=1"});
  const EmulatedWorkload& run = *source.workload->now;
  const std::uint64_t usable = run.workload.generation->hbm_usable.value;
  const std::uint64_t over = run.emulation.programs.front().needed_bytes() - usable;
  const auto& failure = run.emulation.failures.front();
  ASSERT_EQ(allocator::tpu::Tier::hbm, failure.tier);
  EXPECT_LT(failure.requested_bytes, over);  // An array that is put, long before the program.
  const std::vector<TierRow> tiers = compute_tier_rows(run);
  EXPECT_EQ(over, tiers.front().over_bytes.value_or(0));
  EXPECT_EQ(-static_cast<std::int64_t>(over), compute_hbm_spare(run));
  const std::string sentence = compute_workload_verdict(run).reasons.front().sentence;
  EXPECT_NE(std::string::npos, sentence.find("The job ends there; train_step would need 78.7 GiB of HBM in all"))
      << sentence;
  EXPECT_TRUE(sentence.ends_with("over by 63.0 GiB.")) << sentence;
}

TEST(WorkloadVerdict, free_hbm_is_next_to_the_largest_program) {
  const Source source = opened("fsdp.json");
  const EmulatedWorkload& run = *source.workload->now;
  const std::uint64_t usable = run.workload.generation->hbm_usable.value;
  EXPECT_GT(compute_hbm_spare(run), 0);
  EXPECT_LE(compute_hbm_spare(run), static_cast<std::int64_t>(usable - run.emulation.programs.front().needed_bytes()));
}

TEST(ProgramAdvice, says_what_is_enough_first_and_by_how_much) {
  constexpr std::uint64_t gib = 1 << 30;
  const auto changes = [](const std::vector<Advice>& advice) {
    std::string text;
    for (const Advice& each : advice)
      text += each.key + (each.suffices ? " " : "? ") +
              (each.spare_bytes ? std::to_string(*each.spare_bytes / static_cast<std::int64_t>(gib)) : "-") + "; ";
    return text;
  };
  EXPECT_EQ(changes(advise_on_program({10 * gib, 10 * gib, gib, gib})), "");
  EXPECT_EQ(changes(advise_on_program({18 * gib, 16 * gib, 6 * gib, 3 * gib})),
            "donation 1; temporaries -; devices 7; ");
  EXPECT_EQ(changes(advise_on_program({40 * gib, 16 * gib, 6 * gib, 3 * gib})),
            "devices 2; donation? -21; temporaries? -18; ");
  EXPECT_EQ(changes(advise_on_program({17 * gib, 16 * gib, std::nullopt, 0})), "devices 7; ");
}

TEST(WorkloadVerdict, a_kernel_is_held_against_its_limit) {
  const Source source = opened("flash_attention.json", {"block_q=2048", "block_k=2048"});
  const WorkloadVerdict verdict = compute_workload_verdict(*source.workload->now);
  ASSERT_EQ(1U, verdict.reasons.size());
  const std::string& sentence = verdict.reasons[0].sentence;
  EXPECT_EQ(0U, sentence.find("kernel flash_attention needs ")) << sentence;
  EXPECT_NE(std::string::npos, sentence.find(" of VMEM; the limit for a kernel is 16.0 MiB: over by ")) << sentence;
}

TEST(WorkloadVerdict, fragmented_memory_lacks_a_block_that_is_large_enough) {
  const Source source = opened("server.json", {"defragmentation=off"});
  const WorkloadVerdict verdict = compute_workload_verdict(*source.workload->now);
  ASSERT_FALSE(verdict.fits);
  const auto fragmented =
      std::find_if(verdict.reasons.begin(), verdict.reasons.end(), [](const WorkloadReason& reason) {
        return reason.sentence.find("but the largest free block") != std::string::npos;
      });
  ASSERT_NE(verdict.reasons.end(), fragmented);
  EXPECT_NE(std::string::npos, fragmented->sentence.find(" short.")) << fragmented->sentence;
}

TEST(OpenWorkload, that_it_was_cancelled_is_no_answer) {
  ReadControl control;
  control.cancelled = true;
  const auto source = read_source(samples + "fsdp.json", {}, &control);
  ASSERT_FALSE(source);
  EXPECT_NE(std::string::npos, source.error().text().find("cancelled"));
  const Source whole = opened("fsdp.json");
  const std::atomic<bool> cancelled = true;
  const auto changed = change_workload(*whole.workload, {{"mesh.fsdp", "4"}}, &cancelled);
  ASSERT_FALSE(changed);
  EXPECT_EQ("emulating was cancelled", changed.error().what);
}

// After rounding, the request must not look equal to the free memory, and the difference must match the two figures.
TEST(WorkloadVerdict, figures_of_one_sentence_do_not_contradict_each_other) {
  const std::string text = R"({"hbmscope_tpu_workload": 1, "generation": "v5e",
    "arrays": {"a": {"dtype": "s8", "shape": [1024, 1024, "n"]}}, "parameters": {"n": 1},
    "steps": [{"put": "a"}]})";
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  const auto parsed = ParsedWorkload::parse(bytes, "a.json");
  ASSERT_TRUE(parsed) << parsed.error().text();
  bool was_over = false;
  for (int n = 15 * 1024; n < 17 * 1024; n += 128) {
    const auto run = emulate_workload(*parsed, {{"n", std::to_string(n)}});
    ASSERT_TRUE(run) << run.error().text();
    if (run->emulation.failures.empty()) continue;
    was_over = true;
    const auto& failure = run->emulation.failures.front();
    const std::string sentence = compute_workload_verdict(*run).reasons.front().sentence;
    const auto pair = texts_from_bytes(signed_from(failure.requested_bytes), signed_from(*failure.free_bytes));
    EXPECT_NE(std::string::npos,
              sentence.find("takes " + pair.first + " of HBM; " + pair.second + " is free: over by "))
        << sentence;
  }
  EXPECT_TRUE(was_over);
}

TEST(WorkloadVerdict, a_refusal_more_is_a_difference_where_all_peaks_are_the_same) {
  const Source source = opened("fsdp.json");
  EmulatedWorkload refused = *source.workload->now;
  refused.emulation.failures.push_back({"text", allocator::tpu::Tier::hbm, 3, "x", 17, 5, 5, 20, 15});
  const auto differences = compare_workloads(refused, *source.workload->now);
  std::vector<std::string> names;
  for (const WorkloadDifference& each : differences) names.push_back(each.of + " " + each.name);
  EXPECT_EQ((std::vector<std::string>{"workload refused", "hbm over by"}), names);
  EXPECT_FALSE(have_same_words(compute_workload_verdict(refused), compute_workload_verdict(*source.workload->now)));
  EXPECT_TRUE(have_same_words(compute_workload_verdict(refused), compute_workload_verdict(refused)));
}

TEST(WorkloadVerdict, another_choice_of_what_is_in_vmem_is_a_difference) {
  const Source source = opened("weights_in_vmem.json", {"vmem.picker=count"});
  const EmulatedWorkload &now = *source.workload->now, &was = *source.workload->unmodified;
  const auto figures = compute_workload_figures(now);
  const auto value = [&](std::string_view name) {
    const auto found =
        std::find_if(figures.begin(), figures.end(), [&](const auto& each) { return each.name == name; });
    return found != figures.end() ? found->value : std::nullopt;
  };
  EXPECT_EQ(now.emulation.programs.front().spaces.prefetches, value("prefetches"));
  EXPECT_EQ(now.emulation.programs.front().spaces.heap_bytes, value("in VMEM"));
  EXPECT_EQ(now.emulation.spaces.front().copied_bytes, value("copied"));
  EXPECT_EQ(now.emulation.spaces.front().stalls, value("waits"));
  const auto differences = compare_workloads(now, was);
  const auto found = std::find_if(differences.begin(), differences.end(),
                                  [](const WorkloadDifference& each) { return each.name == "prefetches"; });
  ASSERT_NE(differences.end(), found);
  EXPECT_EQ(was.emulation.programs.front().spaces.prefetches, found->was->value);
  EXPECT_EQ(fmt::to_string(*found->was->value), text_from_figure(*found->was)) << "a count, not bytes";
}

TEST(WorkloadVerdict, only_what_is_other_is_a_difference) {
  const Source source = opened("decoder_training.json", {"checkpointing=none"});
  const auto& workload = *source.workload;
  const auto differences = compare_workloads(*workload.now, *workload.unmodified);
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
