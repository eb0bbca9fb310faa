// Each rung of the ladder of causes decides something, and each row of the tables of causes and advice is used.
#include "analysis/diagnose/cause.h"

#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/diagnose/advice.h"
#include "analysis/diagnose/growth.h"
#include "analysis/trace/failure_details.h"
#include "analysis/units/format.h"
#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

// A failed request of 100 MiB in a heap that nothing is known of, until a case says more.
struct Failed {
  HeapInfo heap;
  FailureRow row;
  FailureFacts figures;
  Growth growth;
  CauseFacts facts{heap, row, figures};

  Failed() {
    heap.name = "GPU 0";
    heap.memory_kind = "device";
    figures.requested_bytes = row.requested_bytes = 100 * mib;
    figures.needed_bytes = 100 * mib;
  }
  Failed(const Failed&) = delete;

  void free(std::uint64_t bytes, std::uint64_t largest, std::uint64_t blocks = 8) {
    figures.free_bytes = bytes;
    figures.largest_free_bytes = largest;
    figures.free_blocks = blocks;
  }
  void pool(std::uint64_t bytes, std::uint64_t limit) {
    figures.pool_bytes = row.pool_bytes = bytes;
    figures.limit_bytes = limit;
  }
  void of_text(Framework framework) {
    row.line = 1;
    facts.framework = framework;
  }
  void keep(std::uint64_t bytes, std::uint64_t of) {
    growth.is_steady = true;
    growth.steps = 8;
    growth.bytes_per_step = static_cast<std::int64_t>(bytes / 8);
    growth.kept_bytes = bytes;
    facts.growth = &growth;
    facts.held_bytes = of;
  }
};

struct Case {
  const char* rung;
  std::function<void(Failed&)> set;
};

// For each rung at least one failure that would get another cause without it.
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"kept from earlier steps",
       [](Failed& one) {
         one.free(30 * mib, 10 * mib);
         one.pool(gib, gib);
         one.keep(700 * mib, gib);
       }},
      {"in host memory",
       [](Failed& one) {
         one.heap.memory_kind = "pinned_host";
         one.free(200 * mib, 10 * mib);
       }},
      {"in shared memory",
       [](Failed& one) {
         one.facts.framework = Framework::kernel;
         one.figures.limit_bytes = 64 * mib;
       }},
      {"a size that cannot be",
       [](Failed& one) {
         one.row.reason = "Tried to allocate more than 1EB memory.";
         one.figures.requested_bytes = one.figures.needed_bytes = 0;
       }},
      {"found by the compiler",
       [](Failed& one) {
         one.row.details.emplace_back(failure_detail::stage, failure_detail::compiler);
         one.figures.limit_bytes = 64 * mib;
       }},
      {"library that may lack something else",
       [](Failed& one) {
         one.facts.framework = Framework::library;
         one.row.reason = "CUBLAS_STATUS_NOT_INITIALIZED";
       }},
      {"library outside the pool",
       [](Failed& one) {
         one.facts.framework = Framework::library;
         one.row.allocator = "NCCL";
       }},
      {"pool that says it is full", [](Failed& one) { one.row.reason = "Maximum pool size exceeded"; }},
      {"engine without room for its cache",
       [](Failed& one) {
         one.facts.framework = Framework::vllm;
         one.facts.engine = EngineBudget{12 * gib, 6 * gib, 7 * gib};
       }},
      {"larger than the driver gives at once",
       [](Failed& one) { one.row.details.emplace_back(failure_detail::part, part::single); }},
      {"held by others",
       [](Failed& one) {
         one.facts.elsewhere = HeldElsewhere{6 * gib, {}};
         one.facts.device_bytes = 8 * gib;
         one.figures.driver_bytes = mib;
         one.free(20 * mib, 10 * mib);
       }},
      {"request of unknown size",
       [](Failed& one) {
         one.figures.requested_bytes = one.figures.needed_bytes = 0;
         one.free(200 * mib, 10 * mib);
       }},
      {"larger than the device", [](Failed& one) { one.facts.device_bytes = 64 * mib; }},
      {"larger than the limit",
       [](Failed& one) {
         one.free(mib, mib);
         one.pool(64 * mib, 64 * mib);
       }},
      {"larger than what the driver has",
       [](Failed& one) {
         one.figures.is_of_driver = true;
         one.figures.driver_bytes = mib;
       }},
      {"refused by the driver",
       [](Failed& one) {
         one.figures.is_of_driver = true;
         one.free(200 * mib, 10 * mib);
       }},
      {"events were lost",
       [](Failed& one) {
         one.figures.is_inexact = true;
         one.free(200 * mib, 10 * mib);
       }},
      {"so near its limit that rounding decides",
       [](Failed& one) {
         one.row.line = 1;
         one.free(0, 0);
         one.pool(10 * gib - mib, 10 * gib);
         one.figures.requested_bytes = one.figures.needed_bytes = mib / 2;
         one.figures.driver_bytes = gib;
         one.figures.free_blocks.reset();
       }},
      {"limit of the process",
       [](Failed& one) {
         one.of_text(Framework::pytorch);
         one.figures.free_bytes = 200 * mib;
         one.pool(gib, gib);
       }},
      {"refused with room on the device",
       [](Failed& one) {
         one.of_text(Framework::pytorch);
         one.figures.free_bytes = 200 * mib;
         one.figures.driver_bytes = gib;
       }},
      {"room at the other end",
       [](Failed& one) {
         one.heap.flags = wire::heap_flag::has_two_ends;
         one.free(200 * mib, 150 * mib);
       }},
      {"room that was not used", [](Failed& one) { one.free(200 * mib, 150 * mib); }},
      {"room without rounding",
       [](Failed& one) {
         one.figures.needed_bytes = 128 * mib;
         one.free(200 * mib, 110 * mib);
       }},
      {"over the limit with what is in use",
       [](Failed& one) {
         one.row.used_bytes = 950 * mib;
         one.figures.limit_bytes = gib;
       }},
      {"no room on the device for a pool of unknown size",
       [](Failed& one) {
         one.of_text(Framework::paddle);
         one.figures.driver_bytes = mib;
       }},
      {"free memory is unknown", [](Failed& one) { one.facts.framework = Framework::tpu; }},
      {"device and pool that are nearly full",
       [](Failed& one) {
         one.of_text(Framework::pytorch);
         one.facts.device_bytes = 24 * gib;
         one.figures.free_bytes = 120 * mib;
         one.figures.pool_bytes = 23 * gib;
         one.figures.driver_bytes = 20 * mib;
       }},
      {"free in total", [](Failed& one) { one.free(200 * mib, 10 * mib); }},
      {"larger than all free memory of a TPU",
       [](Failed& one) {
         one.facts.framework = Framework::tpu;
         one.free(20 * mib, 10 * mib);
       }},
      {"within the limit",
       [](Failed& one) {
         one.free(20 * mib, 10 * mib);
         one.pool(gib, 2 * gib);
       }},
      {"beyond the limit",
       [](Failed& one) {
         one.free(20 * mib, 10 * mib);
         one.pool(gib, gib);
         one.figures.driver_bytes = mib;
       }},
      {"beyond the limit of a pool of unknown size",
       [](Failed& one) {
         one.free(20 * mib, 10 * mib);
         one.row.used_bytes = gib;
         one.figures.limit_bytes = gib;
       }},
      {"free memory of the device is unknown",
       [](Failed& one) {
         one.facts.framework = Framework::jax_gpu;
         one.free(20 * mib, 10 * mib);
       }},
      {"more than the pool and the device have",
       [](Failed& one) {
         one.free(20 * mib, 10 * mib);
         one.figures.driver_bytes = mib;
       }},
      {"more than the device has",
       [](Failed& one) {
         one.facts.framework = Framework::pytorch;
         one.free(60 * mib, 10 * mib);
         one.figures.driver_bytes = 50 * mib;
       }},
      {"XLA's pool with room on the device",
       [](Failed& one) {
         one.facts.framework = Framework::jax_gpu;
         one.free(20 * mib, 10 * mib);
         one.figures.driver_bytes = gib;
       }},
  };
  return all;
}

TEST(Ladder, needs_each_of_its_rungs) {
  for (const Rung& rung : ladder_of_causes()) {
    bool is_needed = false;
    for (const Case& one : cases()) {
      Failed failed;
      one.set(failed);
      const Cause cause = cause_of(failed.facts);
      if (rung.name == one.rung) {
        EXPECT_EQ(text_from_cause(cause), text_from_cause(rung.cause)) << rung.name;
      }
      is_needed = is_needed || cause_of(failed.facts, &rung) != cause;
    }
    EXPECT_TRUE(is_needed) << "without \"" << rung.name << "\" each case keeps its cause";
  }
}

TEST(Ladder, has_a_case_for_each_rung) {
  const auto rungs = ladder_of_causes();
  ASSERT_EQ(rungs.size(), cases().size());
  for (std::size_t i = 0; i < rungs.size(); ++i) EXPECT_EQ(rungs[i].name, cases()[i].rung);
}

TEST(Causes, each_has_a_sentence_and_is_documented) {
  const auto text_of_page = [](const char* path) {
    std::ifstream file(std::string(HBMSCOPE_SAMPLES) + "/../" + path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string json_page = text_of_page("app/cli/JSON.md"), skill_page = text_of_page("app/mcp/SKILL.md");
  std::set<Cause> seen;
  for (const Case& one : cases()) {
    Failed failed;
    one.set(failed);
    const Cause cause = cause_of(failed.facts);
    seen.insert(cause);
    EXPECT_TRUE(row_of(cause).sentence(failed.facts).ends_with('.')) << one.rung;
  }
  for (const CauseRow& row : all_causes()) {
    EXPECT_TRUE(seen.contains(row.cause)) << row.key << " has no case";
    EXPECT_NE(json_page.find(fmt::format("| `{}` | {}:", row.key, row.title)), std::string::npos)
        << row.key << ": app/cli/JSON.md lists the verdicts in a table";
    EXPECT_NE(skill_page.find(fmt::format("`{}`", row.key)), std::string::npos)
        << row.key << ": app/mcp/SKILL.md says what to look at";
  }
}

TEST(Advice, each_row_is_given_for_some_failure) {
  TraceBuilder builder;
  builder.writer.add_job_fact("program.jit_step",
                              "arguments=1048576 outputs=1048576 aliased=0 temporaries=7340032 code=0");
  builder.writer.flush();
  Holders holders;
  std::set<std::string> given;
  const auto give = [&](Framework framework, Cause cause, const std::function<void(Failed&)>& set = {}) {
    Failed failed;
    failed.facts.framework = framework;
    if (set) set(failed);
    for (const Advice& one : find_advice({builder.trace.streams[0], failed.facts, cause, holders})) {
      EXPECT_FALSE(one.change.empty() || one.why.empty()) << one.key;
      given.insert(one.key);
    }
  };
  give(Framework::unknown, Cause::leak, [](Failed& one) { one.keep(700 * mib, gib); });
  give(Framework::jax_gpu, Cause::pool_limit, [](Failed& one) {
    one.pool(gib, gib);
    one.row.used_bytes = 950 * mib;
  });
  give(Framework::jax_gpu, Cause::fragmentation, [](Failed& one) {
    one.pool(gib, 2 * gib);
    one.figures.place = CheapestPlace{{0, 100 * mib}, 10 * mib, {LiveBlock{}}};
  });
  give(Framework::jax_gpu, Cause::too_big, [](Failed& one) { one.figures.requested_bytes = 7 * mib; });
  give(Framework::tensorflow, Cause::fragmentation);
  give(Framework::pytorch, Cause::fragmentation);
  give(Framework::pytorch, Cause::pool_limit, [](Failed& one) { one.free(20 * mib, 10 * mib); });
  give(Framework::tpu, Cause::compile_time,
       [](Failed& one) { one.row.details.emplace_back("padding of the listed buffers", "2.00 MiB"); });
  give(Framework::tpu, Cause::compile_time);
  give(Framework::tpu, Cause::compile_time, [](Failed& one) { one.row.memory_space = "vmem"; });
  give(Framework::tpu, Cause::compile_time, [](Failed& one) {
    one.row.details.emplace_back(failure_detail::largest_buffer,
                                 text_from_bytes(one.figures.needed_bytes) + ", f32[8,8192,8192]");
  });
  give(Framework::tpu, Cause::compile_time, [](Failed& one) { one.row.memory_space = "smem"; });
  for (const Framework framework :
       {Framework::kernel, Framework::vllm, Framework::sglang, Framework::library, Framework::ggml, Framework::paddle,
        Framework::pytorch_mps, Framework::driver_start})
    give(framework, Cause::too_big);
  give(Framework::named, Cause::unknown, [](Failed& one) { one.row.allocator = "RELION's allocator"; });
  give(Framework::pytorch, Cause::too_big,
       [](Failed& one) { one.row.details.emplace_back(failure_detail::part, part::saving); });
  give(Framework::pytorch, Cause::too_big, [](Failed& one) {
    one.facts.device_bytes = gib;
    one.row.details.emplace_back(failure_detail::driver_memory, "4294967296");
  });
  give(Framework::unknown, Cause::unknown, [](Failed& one) {
    one.figures.requested_bytes = one.figures.needed_bytes = 0;
    one.row.details.emplace_back(failure_detail::grows, "more and more.");
  });
  give(Framework::pytorch, Cause::too_big,
       [](Failed& one) { one.row.details.emplace_back(failure_detail::steps_before, "step 18"); });
  give(Framework::jax_gpu, Cause::unknown,
       [](Failed& one) { one.row.details.emplace_back(failure_detail::platform, failure_detail::unified); });
  give(Framework::pytorch_xpu, Cause::driver_refused, [](Failed& one) { one.figures.requested_bytes = 4 * gib; });
  give(Framework::ggml, Cause::driver_refused);
  give(Framework::tpu, Cause::too_big);
  give(Framework::pytorch, Cause::too_big,
       [](Failed& one) { one.row.details.emplace_back(failure_detail::engine, engine::vllm); });
  give(Framework::tensorflow, Cause::unknown, [](Failed& one) {
    one.row.allocator = "GPU driver";
    one.row.reason = "failed to allocate 1.00G from device: CUDA_ERROR_OUT_OF_MEMORY";
  });
  for (const Framework program : {Framework::tensorflow, Framework::jax_gpu, Framework::pytorch})
    give(Framework::library, Cause::outside_pool_starved, [&](Failed& one) { one.facts.program = program; });
  give(Framework::rmm, Cause::pool_limit);
  give(Framework::ggml, Cause::unknown, [](Failed& one) {
    one.figures.requested_bytes = gib;
    one.facts.account = EngineAccount{.name = {},
                                      .bytes = 12 * gib,
                                      .weights_bytes = 8 * gib,
                                      .cache_bytes = 4 * gib,
                                      .layers_on_gpu = 32,
                                      .context_tokens = 8192};
  });
  for (const Cause cause : {Cause::driver_refused, Cause::impossible_size, Cause::host_memory})
    give(Framework::unknown, cause);
  give(Framework::vllm, Cause::held_elsewhere, [](Failed& one) {
    one.facts.device_bytes = 8 * gib;
    one.figures.driver_bytes = 2 * gib;
    one.facts.elsewhere = HeldElsewhere{6 * gib, {}};
  });
  give(Framework::vllm, Cause::pool_limit,
       [](Failed& one) { one.row.details.emplace_back(failure_detail::suggested, "4096"); });
  give(Framework::pytorch, Cause::too_big, [](Failed& one) {
    one.facts.elsewhere = HeldElsewhere{40 * gib, {{"process 12", 40 * gib}}};
    one.figures.driver_bytes = mib;
  });
  give(Framework::pytorch, Cause::too_big, [](Failed& one) { one.facts.device_bytes = 64 * mib; });
  give(Framework::unknown, Cause::too_big, [](Failed& one) {
    one.figures.is_of_driver = true;
    one.figures.driver_bytes = mib;
    one.row.used_bytes = 0;
  });
  for (const AdviceRow& row : all_advice()) EXPECT_TRUE(given.contains(std::string(row.key))) << row.key;
}

}  // namespace
}  // namespace hbmscope
