#include "analysis/whatif/what_if.h"

#include <gtest/gtest.h>

#include "allocator/reference/catalog/setup.h"
#include "analysis/diagnose/diagnosis.h"
#include "analysis/diagnose/savings_pool.h"
#include "analysis/read/source/read_source.h"
#include "analysis/units/format.h"
#include "tests/analysis/recorded_requests.h"
#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

using allocator::Kind;

WhatIfSource source_of(const Trace& trace, const WhatIfChoice& choice = {}) {
  auto source = find_what_if_source(trace, choice);
  EXPECT_TRUE(source) << source.error().text();
  return std::move(*source);
}

const WhatIfRow* find_row(const std::vector<WhatIfRow>& rows, std::string_view name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.scenario.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

constexpr std::uint64_t device_bytes = 80 * gib;

TEST(WhatIf, each_row_is_a_replay_under_its_settings) {
  const Recorded trace(random_requests(1, 55 * gib), {"", "classic_align", {}, device_bytes});
  const WhatIfSource source = source_of(trace);
  EXPECT_TRUE(source.is_checked()) << source.check_fault;
  EXPECT_EQ(source.own.version, "classic_align");
  EXPECT_EQ(source.own.device_bytes, device_bytes);
  const auto scenarios = usual_scenarios(source.own);
  EXPECT_GE(scenarios.size(), 24U);
  PassControl control;
  const auto rows = run_what_if(source, scenarios, control);
  ASSERT_EQ(rows.size(), scenarios.size());
  EXPECT_EQ(control.done_events, control.total_events);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto alone = allocator::play(source.requests.stream, scenarios[i].options, {scenarios[i].upstream});
    EXPECT_EQ(rows[i].scenario.name, scenarios[i].name);
    EXPECT_EQ(rows[i].result.peak_in_use_bytes, alone.peak_in_use_bytes) << scenarios[i].name;
    EXPECT_EQ(rows[i].result.statistics.peak_pool_bytes, alone.statistics.peak_pool_bytes) << scenarios[i].name;
    EXPECT_EQ(rows[i].result.driver_claims, alone.driver_claims) << scenarios[i].name;
    EXPECT_EQ(rows[i].result.refused, alone.refused) << scenarios[i].name;
  }
  const WhatIfRow* own = find_row(rows, "as recorded");
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->confidence, Confidence::checked);
  EXPECT_EQ(find_row(rows, "XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async")->confidence, Confidence::approximate);
}

// Collective memory is at the other end of the pool; at which, is a matter of the version.
TEST(WhatIf, blocks_at_both_ends_are_those_of_two_memory_spaces) {
  for (const char* version : {"spatial_v1", "spatial_v2", "spatial_v3"}) {
    allocator::RequestStream requests = random_requests(7, 30 * gib);
    for (std::size_t i = 0; i < requests.operations.size(); i += 3)
      requests.operations[i].request.space = allocator::Space::collective;
    const Recorded trace(requests, {"", version, {}, device_bytes});
    const WhatIfSource source = source_of(trace);
    EXPECT_EQ(source.own.version, version);
    EXPECT_TRUE(source.is_checked()) << version << ": " << source.check_fault;
  }
}

TEST(WhatIf, of_pytorch_has_its_settings) {
  const Recorded trace(random_requests(2, 60 * gib), {"pytorch", "", {}, device_bytes});
  const WhatIfSource source = source_of(trace);
  EXPECT_TRUE(source.own.is_pytorch);
  EXPECT_TRUE(source.is_checked()) << source.check_fault;
  const auto scenarios = usual_scenarios(source.own);
  EXPECT_GE(scenarios.size(), 24U);
  PassControl control;
  const auto rows = run_what_if(source, scenarios, control, {~std::uint64_t{0}, 1});
  EXPECT_EQ(find_row(rows, "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True")->confidence, Confidence::checked);
  EXPECT_NE(find_row(rows, "h200"), nullptr);
}

TEST(WhatIf, a_recording_that_does_not_replay_is_approximate) {
  const Recorded trace(random_requests(3, 50 * gib), {"", "classic", {}, device_bytes});
  WhatIfSource source = source_of(trace);
  EXPECT_TRUE(source.is_checked());
  source.check_fault = "an address differs";
  source.requests.unknown_requests = 1;
  PassControl control;
  const auto rows = run_what_if(source, {own_scenario(source.own).value()}, control);
  EXPECT_EQ(rows.front().confidence, Confidence::approximate);
}

// A replay begins with an empty pool, whatever the recording began with.
TEST(WhatIf, what_lived_before_the_recording_makes_it_approximate) {
  TraceBuilder builder;
  const std::uint32_t heap =
      builder.pool("GPU 0 PyTorch pool",
                   wire::heap_flag::has_addresses | wire::heap_flag::has_regions | wire::heap_flag::has_requested);
  for (std::uint64_t segment = 1; segment <= 3; ++segment) builder.live(heap, segment * gib, 4 * mib);
  builder.alloc(heap, gib + 4 * mib, 8 * mib);
  builder.writer.flush();
  WhatIfSource source = source_of(builder.trace, {std::nullopt, std::nullopt, device_bytes});
  EXPECT_EQ(source.requests.lived_before, 3U);
  source.check_fault.clear();  // As if the model had adopted the state of the recording, and made the same decisions.
  source.differs = false;
  PassControl control;
  const auto rows = run_what_if(source, {own_scenario(source.own).value()}, control);
  EXPECT_EQ(rows.front().confidence, Confidence::approximate);
}

TEST(WhatIf, other_devices_and_devices_of_which_less_is_known_are_approximate) {
  const Recorded trace(random_requests(6, 50 * gib), {"", "classic", {}, device_bytes}, false);
  const WhatIfSource source = source_of(trace, {std::nullopt, std::nullopt, device_bytes});
  EXPECT_FALSE(source.own.is_outside_known);
  PassControl control;
  for (const WhatIfRow& row : run_what_if(source, usual_scenarios(source.own), control))
    EXPECT_EQ(row.confidence == Confidence::approximate, !row.scenario.is_own) << row.scenario.name;
}

TEST(WhatIf, impossible_sizes_and_unknown_settings_are_errors_or_said) {
  const Recorded trace(random_requests(7, 50 * gib), {"", "classic", {}, device_bytes}, false);
  EXPECT_FALSE(find_what_if_source(trace, {std::nullopt, std::nullopt, std::uint64_t{1} << 61}));
  OwnSettings own;
  own.is_pytorch = true;
  own.device_bytes = device_bytes;
  own.settings = {{"PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:64,expandable_segments:True"}};
  EXPECT_EQ(words_of_torch(own, "max_split_size_mb:128"),
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:128");
  own.settings = {{"PYTORCH_CUDA_ALLOC_CONF", "roundup_power2_divisions:[256:1,>:4],backend:native"}};
  EXPECT_EQ(words_of_torch(own, "roundup_power2_divisions:8"),
            "PYTORCH_CUDA_ALLOC_CONF=backend:native,roundup_power2_divisions:8");
}

TEST(WhatIf, cancelled_it_has_no_rows) {
  const Recorded trace(random_requests(4, 50 * gib), {"", "classic", {}, device_bytes});
  PassControl control;
  control.cancelled = true;
  const WhatIfSource source = source_of(trace);
  EXPECT_TRUE(run_what_if(source, usual_scenarios(source.own), control).empty());
}

TEST(WhatIf, settings_are_parsed_and_refused_in_the_words_of_the_framework) {
  OwnSettings own;
  own.version = "spatial_v3";
  own.device_bytes = device_bytes;
  const auto made = scenario_from(own, "XLA_CLIENT_MEM_FRACTION=.5 device=h200");
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ(made->device_bytes, 141 * gib);
  EXPECT_NEAR(static_cast<double>(std::get<allocator::xla_gpu::Options>(made->options).limit_bytes), 70.5 * gib,
              4.0 * mib);
  EXPECT_TRUE(scenario_from(own, "allocator=pytorch PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64"));
  EXPECT_FALSE(scenario_from(own, "XLA_CLIENT_MEM_FRACTION=much"));
  EXPECT_FALSE(scenario_from(own, "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64"));
  EXPECT_FALSE(scenario_from(own, "device=toaster"));
  EXPECT_FALSE(scenario_from(own, "faster"));
}

TEST(WhatIf, the_version_of_the_allocator_follows_from_jaxlibs_release) {
  EXPECT_EQ(version_of_jaxlib("0.4.38"), "classic");
  EXPECT_EQ(version_of_jaxlib("0.10.0"), "classic");
  EXPECT_EQ(version_of_jaxlib("0.10.2"), "classic_align");
  EXPECT_EQ(version_of_jaxlib("0.11.0"), "spatial_v1");
  EXPECT_EQ(version_of_jaxlib("0.12.0.1"), "spatial_v3");
  EXPECT_EQ(version_of_jaxlib("1.0"), "spatial_v3");
  EXPECT_EQ(version_of_jaxlib(""), "");
}

TEST(WhatIf, the_device_must_be_known) {
  const Recorded trace(random_requests(5, 20 * gib), {"", "classic", {}, device_bytes}, false);
  EXPECT_FALSE(find_what_if_source(trace, {}));
  EXPECT_TRUE(find_what_if_source(trace, {std::nullopt, std::nullopt, device_bytes}));
}

// 18 GiB of the pool and 6 GiB that was free outside of it: the device has 24 GiB at least.
TEST(WhatIf, a_failure_says_how_much_memory_the_device_has_at_least) {
  const auto opened = read_source(HBMSCOPE_SAMPLES "/fragments.hbm", {});
  ASSERT_TRUE(opened);
  const Trace& trace = *opened->trace;
  const WhatIfSource source = source_of(trace);
  EXPECT_EQ(source.own.device_bytes, 24 * gib);
  EXPECT_TRUE(source.own.is_device_at_least);
  EXPECT_NE(text_from_own_settings(source.own).find("on a device of at least 24.0 GiB"), std::string::npos);
  PassControl control;
  auto rows = run_what_if(source, usual_scenarios(source.own), control);
  put_fitting_first(rows);
  ASSERT_GT(rows.size(), 3U);
  EXPECT_TRUE(rows[0].scenario.is_own);
  EXPECT_EQ(rows[0].verdict, WhatIfVerdict::does_not_fit) << "as it was";
  EXPECT_TRUE(rows[1].fits());
  EXPECT_TRUE(std::is_partitioned(rows.begin() + 1, rows.end(), [](const WhatIfRow& row) { return row.fits(); }));
  // The same replays are what explain advises.
  const Diagnosis found = diagnose(trace, find_failed_requests(trace).front(), Depth::full);
  ASSERT_FALSE(found.advice.empty());
  EXPECT_EQ(found.advice.front().key, "fraction") << "the cheapest first";
  EXPECT_EQ(mark_of(found.advice.front()), "fits, replayed");
  for (const Advice& one : found.advice) EXPECT_EQ(one.words.empty(), !one.fits) << one.change;
}

TEST(WhatIf, notes_are_sentences) {
  EXPECT_EQ(sentence_from_note("which allocator it was is unknown"), "Which allocator it was is unknown.");
  EXPECT_EQ(sentence_from_note("JAX's is assumed."), "JAX's is assumed.");
}

// Advice that is proved: the lowest fraction under which a replay serves the request that failed, and no lower one.
TEST(Proof, names_the_lowest_fraction_that_serves_the_request) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Recorded trace(random_requests(seed, 66 * gib, 300), {"", "classic_align", {}, device_bytes});
    const auto failed = find_failed_requests(trace);
    if (failed.empty()) continue;
    const Diagnosis diagnosis = diagnose(trace, failed.front(), Depth::full);
    const auto proved = std::find_if(diagnosis.advice.begin(), diagnosis.advice.end(), [](const Advice& one) {
      return one.proof == AdviceProof::replayed && one.words.find("MEM_FRACTION") != std::string::npos;
    });
    ASSERT_NE(proved, diagnosis.advice.end()) << seed;
    const int percent = std::stoi(proved->words.substr(proved->words.size() - 2));
    const WhatIfSource source = source_of(trace);
    const std::uint64_t failed_operation = source.requests.failures.front().first;
    for (const int fraction : {percent - 1, percent}) {
      const auto scenario = scenario_from(source.own, "XLA_PYTHON_CLIENT_MEM_FRACTION=0." + std::to_string(fraction));
      ASSERT_TRUE(scenario);
      const auto result =
          allocator::play(source.requests.stream, scenario->options, {scenario->upstream, {}, failed_operation + 1});
      EXPECT_EQ(result.refused == 0, fraction == percent) << seed << " " << fraction;
    }
  }
}

TEST(Proof, puts_what_a_replay_refutes_last_and_says_so) {
  // One request is larger than the device: no setting helps.
  auto requests = random_requests(9, 40 * gib, 50);
  allocator::Operation large;
  large.slot = requests.slots++;
  large.request.bytes = 90 * gib;
  requests.operations.push_back(large);
  requests.answers.emplace_back();
  const Recorded trace(requests, {"pytorch", "", {}, device_bytes});
  const auto failed = find_failed_requests(trace);
  ASSERT_EQ(failed.size(), 1U);
  const Diagnosis diagnosis = diagnose(trace, failed.front(), Depth::full);
  EXPECT_TRUE(std::is_partitioned(diagnosis.advice.begin(), diagnosis.advice.end(),
                                  [](const Advice& one) { return one.words.empty(); }));
  for (const Advice& one : diagnosis.advice) EXPECT_EQ(one.words.empty(), !one.fits.has_value()) << one.change;
  ASSERT_FALSE(diagnosis.advice.empty());
  if (const Advice& last = diagnosis.advice.back(); last.fits) {
    EXPECT_EQ(mark_of(last), last.is_approximate ? "does not fit, replayed approximately" : "does not fit, replayed");
  }
}

// Removing the requests by hand, and playing the rest, gives the same.
TEST(PoolSavings, are_those_of_a_replay_without_the_site) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::mt19937_64 random(seed);
    TraceBuilder builder;
    const std::uint32_t heap =
        builder.pool("GPU 0 PyTorch pool", wire::heap_flag::has_addresses | wire::heap_flag::has_requested);
    const std::uint32_t stacks[] = {builder.stack("main;a"), builder.stack("main;b"), builder.stack("main;c")};
    std::vector<std::uint64_t> live;
    for (std::uint64_t i = 0; i < 300; ++i) {
      if (live.size() > 20) {
        const std::size_t at = random() % live.size();
        builder.free(heap, live[at]);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      }
      live.push_back((i + 1) * gib);
      builder.alloc(heap, live.back(), 512 * (1 + random() % (64 * mib / 512)), stacks[random() % 3]);
    }
    builder.writer.flush();
    const HeapKey key{0, heap};
    const auto savings = compute_savings(builder.trace, key, {SiteBy::line, {}}, nullptr);
    ASSERT_TRUE(savings);
    PassControl control;
    const auto pool = compute_pool_savings(builder.trace, key, SiteBy::line, savings->sites, 2, control);
    ASSERT_TRUE(pool);
    ASSERT_EQ(pool->saves_bytes.size(), 2U);
    const WhatIfSource source = source_of(builder.trace, {std::nullopt, std::nullopt, std::uint64_t{1} << 50});
    const Scenario own = own_scenario(source.own).value();
    const auto peak_of = [&](const allocator::RequestStream& requests) {
      return allocator::play(requests, own.options, {own.upstream}).statistics.peak_pool_bytes;
    };
    EXPECT_EQ(pool->peak_pool_bytes, peak_of(source.requests.stream));
    for (std::size_t site = 0; site < 2; ++site) {
      allocator::RequestStream rest = source.requests.stream;
      for (std::size_t i = 0; i < rest.operations.size(); ++i) {
        const Definitions& definitions = builder.trace.streams[0].definitions();
        const auto frame = definitions.frame(definitions.stack(rest.origins[i].stack).frame);
        // A request of 0 bytes gets nothing.
        if (!rest.operations[i].is_free && definitions.text(frame.function) == savings->sites[site].site.function)
          rest.operations[i].request.bytes = 0;
      }
      EXPECT_EQ(pool->saves_bytes[site],
                static_cast<std::int64_t>(pool->peak_pool_bytes) - static_cast<std::int64_t>(peak_of(rest)))
          << seed;
    }
  }
}

}  // namespace
}  // namespace hbmscope
