#include <gtest/gtest.h>

#include "analysis/answers/failure.h"
#include "analysis/diagnose/diagnosis.h"
#include "analysis/document/html.h"
#include "analysis/trace/reported_figures.h"
#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

// A loop in a pool of 1 GiB, with a request at its end that fails.
class Loop {
 public:
  Loop() : heap_(builder.heap("GPU_0_bfc", wire::heap_flag::has_addresses | wire::heap_flag::has_regions)) {
    builder.grow(heap_, base_, gib);
    weights_ = builder.stack("main;load");
    forward_ = builder.stack("main;forward");
    losses_ = builder.stack("main;log_loss");
    take(200 * mib, weights_);
    builder.counter(heap_, reported_figure::limit, gib);
  }

  // 300 MiB of activations, which go at the end of the step, and what the step keeps.
  void step(std::uint64_t kept_bytes) {
    mark();
    const std::uint64_t activations = take(300 * mib, forward_);
    if (kept_bytes > 0) take(kept_bytes, losses_);
    builder.free(heap_, activations);
  }
  // Called in the forward pass: the activations of the last step are still there.
  void step_begins(std::uint64_t kept_bytes) {
    mark();
    take(kept_bytes, losses_);
  }
  Diagnosis fail(std::uint64_t bytes, bool with_mark = true) {
    if (with_mark) mark();
    take(300 * mib, forward_);
    builder.run_out(heap_, bytes);
    builder.writer.flush();
    return diagnose(builder.trace, find_failed_requests(builder.trace).front(), Depth::full);
  }

  TraceBuilder builder;
  std::string mark_name = "step ";

 private:
  // Activations are at the end of the pool, everything else at its beginning.
  std::uint64_t take(std::uint64_t bytes, std::uint32_t stack) {
    const std::uint64_t address = stack == forward_ ? base_ + gib - bytes : next_;
    builder.alloc(heap_, address, bytes, stack);
    if (stack != forward_) next_ += bytes;
    return address;
  }
  void mark() {
    wire::MarkerRecord marker;
    marker.name = builder.writer.define_string(mark_name + std::to_string(steps_++));
    builder.writer.add(marker, builder.time_ns += 1000);
  }

  static constexpr std::uint64_t base_ = 0x10000000000;
  std::uint32_t heap_, weights_ = 0, forward_ = 0, losses_ = 0;
  std::uint64_t next_ = base_;
  int steps_ = 0;
};

TEST(Growth, what_is_kept_in_every_step_is_a_leak) {
  Loop loop;
  for (int i = 0; i < 40; ++i) loop.step(10 * mib);
  const Diagnosis found = loop.fail(300 * mib);
  EXPECT_EQ(found.cause.cause, Cause::leak) << found.cause.sentence;
  ASSERT_TRUE(found.growth);
  EXPECT_EQ(found.growth->step, "step");
  EXPECT_EQ(found.growth->steps, 41U);
  EXPECT_EQ(found.growth->bytes_per_step, static_cast<std::int64_t>(10 * mib));
  ASSERT_EQ(found.growth->survivors.size(), 1U);
  EXPECT_EQ(found.growth->survivors.front().name, "log_loss  log_loss.py:7");
  EXPECT_EQ(found.growth->survivor_bytes, 400 * mib);
  EXPECT_NE(found.cause.sentence.find("400 MiB that log_loss"), std::string::npos) << found.cause.sentence;
  EXPECT_NE(found.advice.front().change.find("log_loss"), std::string::npos);
}

TEST(Growth, activations_of_the_last_step_are_no_leak) {
  Loop loop;
  for (int i = 0; i < 40; ++i) loop.step(0);
  const Diagnosis found = loop.fail(600 * mib);
  EXPECT_NE(found.cause.cause, Cause::leak);
  ASSERT_TRUE(found.growth);
  EXPECT_FALSE(found.growth->is_steady);
  EXPECT_TRUE(found.growth->survivors.empty());
}

TEST(Growth, a_leak_without_which_the_request_would_not_fit_either_is_not_the_cause) {
  Loop loop;
  for (int i = 0; i < 40; ++i) loop.step(mib);
  const Diagnosis found = loop.fail(900 * mib);
  EXPECT_NE(found.cause.cause, Cause::leak);
  ASSERT_TRUE(found.growth);
  EXPECT_TRUE(found.growth->is_steady);
  EXPECT_EQ(found.cause.evidence.front().text,
            "The memory in use grew by about 1.00 MiB a step, over the last 41 steps (\"step\").");
}

TEST(Growth, what_grew_only_at_the_beginning_is_no_leak) {
  Loop loop;
  for (int i = 0; i < 8; ++i) loop.step(50 * mib);  // A cache that fills.
  for (int i = 0; i < 32; ++i) loop.step(0);
  const Diagnosis found = loop.fail(300 * mib);
  EXPECT_NE(found.cause.cause, Cause::leak);
  EXPECT_FALSE(found.growth->is_steady);
}

TEST(Growth, without_marks_of_steps_nothing_is_said) {
  Loop loop;
  loop.mark_name = "epoch ";
  for (int i = 0; i < 40; ++i) loop.step(10 * mib);
  EXPECT_FALSE(loop.fail(300 * mib).growth);
  Loop few;
  for (int i = 0; i < 6; ++i) few.step(60 * mib);
  EXPECT_FALSE(few.fail(300 * mib).growth);
}

// What the current step has allocated is no survivor, even if its line has left a little in every step.
TEST(Growth, only_what_is_left_of_earlier_steps_counts) {
  Loop loop;
  for (int i = 0; i < 40; ++i) loop.step(mib);
  loop.step_begins(200 * mib);
  const Diagnosis found = loop.fail(500 * mib, false);
  ASSERT_TRUE(found.growth);
  EXPECT_EQ(found.growth->survivor_bytes, 40 * mib);
  EXPECT_NE(found.cause.cause, Cause::leak);
}

TEST(Growth, marks_that_came_in_a_burst_are_no_steps) {
  Loop loop;
  loop.mark_name = "step (fill) ";
  for (int i = 0; i < 40; ++i) loop.step(0);
  for (int i = 0; i < 4; ++i) {
    loop.mark_name = "other ";
    for (int k = 0; k < 20; ++k) loop.step(mib);
    loop.mark_name = "step (fill) ";
    loop.step(mib);
  }
  EXPECT_FALSE(loop.fail(300 * mib).growth);
}

TEST(Growth, what_took_the_room_since_the_request_would_have_fit_is_named) {
  Loop loop;
  for (int i = 0; i < 40; ++i) loop.step(10 * mib);
  const Diagnosis found = loop.fail(400 * mib);
  ASSERT_TRUE(found.facts.last_fit);
  ASSERT_FALSE(found.holders_since_fit.rows.empty());
  std::uint64_t bytes = 0;
  for (const Holder& row : found.holders_since_fit.rows) bytes += row.bytes;
  EXPECT_EQ(bytes, found.holders_since_fit.bytes);
  EXPECT_EQ(found.holders_since_fit.rows.front().name, "forward  forward.py:7");
}

// As a page: names come from the job, and may be anything.
TEST(DiagnosisPage, has_all_parts_and_runs_nothing_of_the_job) {
  TraceBuilder builder;
  builder.trace.files = {"<script>alert(1)</script>.log"};
  const std::uint32_t heap = builder.heap("GPU & <b>", wire::heap_flag::has_addresses | wire::heap_flag::has_regions);
  builder.grow(heap, gib, gib);
  builder.alloc(heap, gib, 600 * mib, builder.stack("<script>load"));
  builder.run_out(heap, 900 * mib, 0);
  builder.run_out(heap, 901 * mib, 0);
  builder.writer.flush();
  const std::string page = html_from_document(describe_failures(builder.trace, {}));
  for (const char* part : {"<h1>Out of memory on GPU &amp; &lt;b&gt;", "<h2>Why</h2>", "<h2>What held the memory",
                           "&lt;script&gt;load", "<h2>The other failures</h2>", "(2 of 2)"})
    EXPECT_NE(page.find(part), std::string::npos) << part << "\n" << page;
  for (const char* part : {"<script", "<i>", "GPU & ", "http"}) EXPECT_EQ(page.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace hbmscope
