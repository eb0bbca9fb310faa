// A leak is the cause of a failure whatever kept the last request from being served: each way to die, with more and
// with less than half of what is in use kept by earlier steps.
#include <gtest/gtest.h>

#include "analysis/answers/failure.h"
#include "analysis/diagnose/diagnosis.h"
#include "analysis/document/json.h"
#include "analysis/trace/reported_figures.h"
#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

#include <nlohmann/json.hpp>

namespace hbmscope {
namespace {

constexpr int steps = 40;
constexpr std::uint64_t kept_each_step = 10 * mib;

// A loop that keeps 10 MiB with each of 40 steps, next to a state. What follows a kept block is a gap.
class KeepingLoop {
 public:
  explicit KeepingLoop(const std::string& heap = "PyTorch (GPU 0)")
      : heap_(builder.pool(heap, wire::heap_flag::has_addresses | wire::heap_flag::has_regions)),
        keeps_(builder.stack("main;train;keep")),
        loads_(builder.stack("main;load")) {}

  void begin(std::uint64_t pool_bytes, std::uint64_t state_bytes) {
    builder.grow(heap_, base, pool_bytes);
    builder.alloc(heap_, base + pool_bytes - state_bytes, state_bytes, loads_);
  }
  void step(std::uint64_t kept = kept_each_step, std::uint64_t gap = 0) {
    mark("step " + std::to_string(number_++));
    if (kept == 0) {
      builder.alloc(heap_, next_, mib, loads_);
      builder.free(heap_, next_);
      return;
    }
    builder.alloc(heap_, next_, kept, keeps_);
    next_ += kept + gap;
    ++allocations_;
  }
  void mark(const std::string& name) {
    wire::MarkerRecord marker;
    marker.name = builder.writer.define_string(name);
    builder.writer.add(marker, builder.time_ns += 1000);
  }
  // As the job's agent says it of arrays: the loop's are in a list.
  void say(std::uint64_t allocation, std::string_view key, std::string_view value) {
    wire::AttributeRecord record;
    record.allocation = allocation;
    record.key = builder.writer.define_string(key);
    record.value = builder.writer.define_string(value);
    record.size = kept_each_step;
    record.stack = keeps_;
    builder.writer.add(record, builder.time_ns += 1000);
  }
  void limit(std::uint64_t bytes) { builder.counter(heap_, reported_figure::limit, bytes); }
  Diagnosis fail(std::uint64_t requested, std::uint64_t available = wire::unknown_bytes) {
    mark("step " + std::to_string(number_++));
    builder.run_out(heap_, requested, available);
    builder.writer.flush();
    return diagnose(builder.trace, find_failed_requests(builder.trace).front(), Depth::full);
  }
  HeapKey heap() const { return {0, heap_}; }

  static constexpr std::uint64_t base = 0x10000000000;
  TraceBuilder builder;

 private:
  std::uint32_t heap_, keeps_, loads_;
  std::uint64_t next_ = base;
  int number_ = 0, allocations_ = 0;
};

struct Death {
  const char* name;
  Cause cause;  // Of the one request.
  std::uint64_t gap, requested, available;
  bool has_limit;
};
// The pool has what the state, the kept blocks and their gaps take.
constexpr Death deaths[] = {
    {"fragmentation", Cause::fragmentation, 10 * mib, 300 * mib, 0, false},
    {"pool limit", Cause::pool_limit, 0, 100 * mib, 2 * gib, true},
    {"split between pool and device", Cause::cannot_grow, mib, 100 * mib, 80 * mib, false},
    {"device full", Cause::too_big, 0, 100 * mib, 20 * mib, false},
};

Diagnosis died_by(const Death& death, std::uint64_t state_bytes) {
  KeepingLoop loop(death.has_limit ? "GPU_0_bfc" : "PyTorch (GPU 0)");
  const std::uint64_t pool = state_bytes + steps * (kept_each_step + death.gap);
  loop.begin(pool, state_bytes);
  if (death.has_limit) loop.limit(pool);
  for (int i = 0; i < steps; ++i) loop.step(kept_each_step, death.gap);
  return loop.fail(death.requested, death.available);
}

TEST(Leak, that_is_more_than_half_of_what_is_in_use_outranks_every_other_cause) {
  for (const Death& death : deaths) {
    const Diagnosis found = died_by(death, 380 * mib);
    EXPECT_EQ(found.cause.cause, Cause::leak) << death.name << ": " << found.cause.sentence;
    EXPECT_EQ(found.cause.immediate, death.cause) << death.name << ": " << text_from_cause(found.cause.immediate);
    EXPECT_TRUE(found.cause.sentence.starts_with("Leak: 10.0 MiB more each step, made at keep.py:7. 400 MiB"))
        << death.name << ": " << found.cause.sentence;
    ASSERT_FALSE(found.advice.empty());
    EXPECT_TRUE(found.advice.front().change.starts_with("stop keeping the arrays of keep keep.py:7"))
        << death.name << ": " << found.advice.front().change;
    EXPECT_EQ(found.advice.front().proof, AdviceProof::computed) << death.name;
  }
}

TEST(Leak, of_less_than_half_leaves_a_fragmented_or_split_pool_its_cause) {
  for (const Death& death : deaths) {
    const Diagnosis found = died_by(death, 420 * mib);
    ASSERT_TRUE(found.growth) << death.name;
    EXPECT_TRUE(found.growth->is_steady) << death.name;
    const bool may_be_probable = death.cause == Cause::pool_limit || death.cause == Cause::too_big;
    EXPECT_EQ(found.cause.cause, may_be_probable ? Cause::leak : death.cause) << death.name;
    EXPECT_FALSE(found.cause.sentence.starts_with("Leak:")) << death.name << ": " << found.cause.sentence;
    EXPECT_EQ(found.cause.sentence.starts_with("Probably a leak: 10.0 MiB more each step"), may_be_probable);
  }
}

TEST(Leak, without_which_the_request_is_still_too_large_is_not_the_cause) {
  KeepingLoop loop("GPU_0_bfc");
  loop.begin(600 * mib, 200 * mib);
  loop.limit(600 * mib);
  for (int i = 0; i < steps; ++i) loop.step();
  EXPECT_EQ(loop.fail(700 * mib).cause.cause, Cause::too_big);
}

TEST(Leak, names_the_variable_that_holds_it) {
  KeepingLoop loop;
  loop.begin(gib, 100 * mib);
  for (int i = 0; i < steps; ++i) {
    loop.step();
    loop.say(static_cast<std::uint64_t>(2 + i), "name", "history[" + std::to_string(i) + "]");
    loop.say(static_cast<std::uint64_t>(2 + i), "held by", "global of train.py");
  }
  const Diagnosis found = loop.fail(600 * mib, 0);
  ASSERT_TRUE(found.growth);
  EXPECT_EQ(found.growth->held_by, "history (global of train.py)");
  EXPECT_TRUE(found.cause.sentence.starts_with(
      "Leak: 10.0 MiB more each step, held by history (global of train.py), made at keep.py:7. "))
      << found.cause.sentence;
  EXPECT_NE(found.advice.front().change.find("in history (global of train.py)"), std::string::npos)
      << found.advice.front().change;
  const auto json = json_from_document(describe_failure(loop.builder.trace, found));
  EXPECT_EQ(json["verdict"], "leak");
  EXPECT_EQ(json["growth"]["held_by"], "history (global of train.py)");
  EXPECT_EQ(json["growth"]["made_at"], "keep.py:7");
  EXPECT_EQ(json["growth"]["kept_bytes"], 400 * mib);
}

// total = total + loss: a small tensor, new in each step, and the graph behind it has what no variable leads to.
TEST(Leak, names_the_tensor_whose_autograd_graph_reaches_back_over_the_steps) {
  for (const int graph_steps : {1, 40}) {
    KeepingLoop loop;
    loop.begin(gib, 100 * mib);
    for (int i = 0; i < steps; ++i) loop.step();
    const auto total = static_cast<std::uint64_t>(1 + steps);
    loop.say(total, "name", "total");
    loop.say(total, "held by", "global of train.py");
    loop.say(total, "autograd graph", std::to_string(graph_steps) + " earlier steps");
    const Diagnosis found = loop.fail(600 * mib, 0);
    ASSERT_TRUE(found.growth);
    const bool is_named = graph_steps > 1;
    EXPECT_EQ(found.growth->held_by, is_named ? "the autograd graph of total (global of train.py)" : "");
    EXPECT_EQ(found.advice.front().why.find(".detach() or .item()") != std::string::npos, is_named)
        << found.advice.front().why;
  }
}

// expandable_segments joins what is free: 400 MiB of gaps and 5 MiB on the device.
TEST(Leak, says_of_each_setting_how_many_steps_it_buys) {
  const auto steps_of = [](std::uint64_t requested) {
    const Diagnosis found = died_by({"", Cause::fragmentation, 10 * mib, requested, 5 * mib, false}, 300 * mib);
    for (const Advice& one : found.advice)
      if (one.change.find("expandable_segments") != std::string::npos) {
        EXPECT_TRUE(one.why.starts_with(one.steps_at_most == 1 ? "One more step at most: " : "At most ")) << one.why;
        EXPECT_EQ(mark_of(one) == "one more step at most", one.steps_at_most == 1);
        return one.steps_at_most.value_or(0);
      }
    ADD_FAILURE() << "no such advice";
    return std::uint64_t{0};
  };
  EXPECT_EQ(steps_of(398 * mib), 1U);  // 7 MiB are left.
  EXPECT_EQ(steps_of(380 * mib), 3U);  // 25 MiB are left, for two steps after this one.
}

// As PyTorch's optimizer marks them: the first step is before the first mark, and the last one after the last.
TEST(Leak, of_steps_that_are_marked_at_their_ends_counts_the_first_and_the_last) {
  KeepingLoop loop;
  loop.begin(2 * gib, 400 * mib);
  const std::uint32_t stack = loop.builder.stack("main;train;keep");
  for (std::uint64_t i = 0; i <= 20; ++i) {
    loop.builder.alloc(loop.heap().heap, KeepingLoop::base + i * 20 * mib, 20 * mib, stack);
    if (i < 20) loop.mark("step (AdamW)");
  }
  loop.builder.run_out(loop.heap().heap, 1500 * mib, 0);
  loop.builder.writer.flush();
  const Diagnosis found = diagnose(loop.builder.trace, find_failed_requests(loop.builder.trace).front(), Depth::full);
  ASSERT_TRUE(found.growth);
  EXPECT_EQ(found.growth->survivor_bytes, 19 * 20 * mib);
  EXPECT_EQ(found.growth->kept_bytes, 20 * 20 * mib);
  EXPECT_EQ(found.growth->current_bytes, 20 * mib);
  EXPECT_EQ(found.cause.cause, Cause::leak) << "420 MiB of 820 MiB";
}

// A helper that makes both the weights and what is kept.
TEST(Leak, does_not_count_what_its_line_made_before_the_loop) {
  KeepingLoop loop;
  loop.begin(gib, 100 * mib);
  loop.builder.alloc(loop.heap().heap, KeepingLoop::base + 420 * mib, 350 * mib, loop.builder.stack("main;train;keep"));
  for (int i = 0; i < 10; ++i) {  // What a program does before its loop.
    loop.builder.alloc(loop.heap().heap, KeepingLoop::base + 800 * mib, mib);
    loop.builder.free(loop.heap().heap, KeepingLoop::base + 800 * mib);
  }
  for (int i = 0; i < steps; ++i) loop.step();
  const Diagnosis found = loop.fail(450 * mib, 400 * mib);
  ASSERT_TRUE(found.growth);
  EXPECT_EQ(found.growth->kept_bytes, 400 * mib);
  EXPECT_EQ(found.cause.cause, found.cause.immediate) << "400 MiB of 850 MiB";
}

TEST(Leak, over_more_steps_than_are_looked_at_counts_all_that_its_line_keeps) {
  KeepingLoop loop;
  loop.begin(1400 * mib, 300 * mib);
  for (int i = 0; i < 100; ++i) loop.step();
  const Diagnosis found = loop.fail(200 * mib, 0);
  ASSERT_TRUE(found.growth);
  EXPECT_LT(found.growth->survivor_bytes, 700 * mib);
  EXPECT_EQ(found.growth->kept_bytes, 1000 * mib);
  EXPECT_EQ(found.cause.cause, Cause::leak);
}

TEST(Leak, without_stacks_is_known_by_the_growth_of_the_heap) {
  KeepingLoop loop;
  loop.begin(gib, 100 * mib);
  for (int i = 0; i < steps; ++i) {
    loop.mark("step " + std::to_string(i));
    loop.builder.alloc(loop.heap().heap, KeepingLoop::base + static_cast<std::uint64_t>(i) * kept_each_step,
                       kept_each_step);
  }
  const Diagnosis found = loop.fail(600 * mib, 0);
  EXPECT_EQ(found.cause.cause, Cause::leak) << found.cause.sentence;
  EXPECT_TRUE(found.cause.sentence.starts_with("Leak: 10.0 MiB more each step. ")) << found.cause.sentence;
}

TEST(Growth, that_has_stopped_is_none) {
  for (const int flat : {6, 10, 30}) {
    KeepingLoop loop;
    loop.begin(2 * gib, 100 * mib);
    for (int i = 0; i < 55; ++i) loop.step();
    for (int i = 0; i < flat; ++i) loop.step(0);
    const Diagnosis found = loop.fail(1900 * mib, 0);
    ASSERT_TRUE(found.growth) << flat;
    EXPECT_FALSE(found.growth->is_steady) << flat;
    EXPECT_NE(found.cause.cause, Cause::leak) << flat;
  }
}

TEST(Growth, of_a_warm_up_that_fades_is_none) {
  KeepingLoop loop;
  loop.begin(2 * gib, 100 * mib);
  std::uint64_t bytes = 512 * mib;
  for (int i = 0; i < 14; ++i, bytes /= 2) loop.step(bytes);
  const Diagnosis found = loop.fail(1900 * mib, 0);
  ASSERT_TRUE(found.growth);
  EXPECT_FALSE(found.growth->is_steady);
}

// JAX: 20 executions of a program that fills the parameters, and then the first of the training step.
TEST(Growth, of_what_another_program_made_before_is_none) {
  const auto fill = [](KeepingLoop& loop) {
    loop.begin(gib, 10 * mib);
    for (int i = 0; i < 20; ++i) {
      loop.mark("step (jit_broadcast_in_dim)");
      loop.builder.alloc(loop.heap().heap, KeepingLoop::base + static_cast<std::uint64_t>(i) * kept_each_step,
                         kept_each_step, loop.builder.stack("main;init;zeros"));
    }
  };
  const auto run_out = [](KeepingLoop& loop, const std::string& stack) {
    wire::OutOfMemoryRecord record;
    record.requested = 900 * mib;
    record.available = 0;
    record.heap = loop.heap().heap;
    record.stack = loop.builder.stack(stack);
    loop.builder.writer.add(record, loop.builder.time_ns += 1000);
    loop.builder.writer.flush();
    return diagnose(loop.builder.trace, find_failed_requests(loop.builder.trace).front(), Depth::full);
  };
  KeepingLoop trains("GPU_0_bfc");
  fill(trains);
  const Diagnosis found = run_out(trains, "main;train_step");
  EXPECT_FALSE(found.growth);
  EXPECT_NE(found.cause.cause, Cause::leak);
  KeepingLoop fills("GPU_0_bfc");
  fill(fills);
  EXPECT_TRUE(run_out(fills, "main;init;zeros").growth);
  // Its figures say that it makes arrays of nothing.
  KeepingLoop initialises("GPU_0_bfc");
  initialises.builder.writer.add_job_fact("program.jit_broadcast_in_dim",
                                          "arguments=8 outputs=10485760 aliased=0 temporaries=0 code=0");
  fill(initialises);
  EXPECT_FALSE(run_out(initialises, "main;init;zeros").growth);
  KeepingLoop steps("GPU_0_bfc");
  steps.builder.writer.add_job_fact("program.jit_broadcast_in_dim",
                                    "arguments=10485760 outputs=10485760 aliased=0 temporaries=0 code=0");
  fill(steps);
  EXPECT_TRUE(run_out(steps, "main;init;zeros").growth);
}

TEST(Outlook, names_the_growth_the_line_and_the_steps_that_are_left) {
  KeepingLoop loop;
  loop.begin(gib, 100 * mib);
  loop.limit(gib);
  for (int i = 0; i < steps; ++i) loop.step();
  loop.mark("step 40");
  for (int i = 0; i < steps; ++i)  // At its end the program frees everything.
    loop.builder.free(loop.heap().heap, KeepingLoop::base + static_cast<std::uint64_t>(i) * kept_each_step);
  loop.builder.writer.flush();
  const auto outlook = find_outlook(loop.builder.trace, loop.heap());
  ASSERT_TRUE(outlook);
  EXPECT_EQ(outlook->steps_at_most, 52U);  // (1,024 - 500) / 10
  EXPECT_EQ(text_from_outlook(*outlook),
            "Memory grows: 10.0 MiB more each step, made at keep.py:7. At most 52 more steps fit below 1.00 GiB.");
  const auto json = json_from_document(describe_outlook(*outlook));
  EXPECT_EQ(json["steps_at_most"], 52);
  EXPECT_EQ(json["growth"]["made_at"], "keep.py:7");
}

TEST(Outlook, of_a_loop_that_keeps_nothing_or_of_an_initialisation_is_none) {
  KeepingLoop flat;
  flat.begin(gib, 100 * mib);
  for (int i = 0; i < steps; ++i) flat.step(0);
  flat.builder.writer.flush();
  EXPECT_FALSE(find_outlook(flat.builder.trace, flat.heap()));
  KeepingLoop fills;
  fills.begin(gib, 10 * mib);
  const std::uint32_t stack = fills.builder.stack("main;init;zeros"), trains = fills.builder.stack("main;train_step");
  std::uint64_t next = KeepingLoop::base;
  for (int i = 0; i < 20; ++i, next += kept_each_step) {
    fills.mark("step (jit_broadcast_in_dim)");
    fills.builder.alloc(fills.heap().heap, next, kept_each_step, stack);
  }
  for (int i = 0; i < 50; ++i) {
    fills.builder.alloc(fills.heap().heap, next, mib, trains);
    fills.builder.free(fills.heap().heap, next);
  }
  fills.builder.writer.flush();
  EXPECT_FALSE(find_outlook(fills.builder.trace, fills.heap()));
}

}  // namespace
}  // namespace hbmscope
