// The bands of the timeline against a plain sum over the live blocks after every event.
#include "app/gui/core/stack_course.h"

#include <random>

#include <gtest/gtest.h>

#include "analysis/query/trace_user_code.h"
#include "app/gui/core/block_shades.h"
#include "app/gui/core/timeline_columns.h"
#include "tests/gui_core/colors_of.h"
#include "tests/gui_core/small_trace.h"

namespace hbmscope::gui {
namespace {

constexpr std::uint64_t block_size = 4096;

// Random allocations and frees of a hundred places by five functions. One event a microsecond.
void fill(test::SmallTrace& trace, unsigned seed, int events) {
  std::mt19937 random(seed);
  trace.region(0, 100 * block_size);
  std::vector<bool> is_live(100, false);
  for (int i = 0; i < events; ++i) {
    const std::uint64_t place = random() % 100;
    if (is_live[place])
      trace.free(place * block_size);
    else
      trace.alloc(place * block_size, 1 + random() % block_size, std::string(1, static_cast<char>('a' + random() % 5)));
    is_live[place] = !is_live[place];
  }
}

StackQuery query_of(const Trace& trace, HeapColoring coloring = HeapColoring::user_code) {
  return {{0, 1}, coloring, std::make_shared<const TraceColors>(test::colors_of(trace))};
}

Composition sum_at(const Stream& stream, const StackQuery& query, std::uint64_t position) {
  const StreamState state = stream.state_at(position);
  const BlockLabels labels(stream);
  BlockShades shades(stream.definitions(), labels, row_of(query.coloring), *query.colors);
  Composition sum;
  for (const LiveBlock& block : state.slots()) {
    if (block.heap != query.heap.heap) continue;
    sum.bytes[shades.shade_of(block)] += block.size;
    sum.lit[shades.shade_of(block)] += block.size;
    sum.total += block.size;
  }
  return sum;
}

TEST(StackCourse, a_column_for_each_event_is_the_sum_over_the_live_blocks) {
  for (const HeapColoring coloring : {HeapColoring::user_code, HeapColoring::size}) {
    test::SmallTrace made;
    fill(made, 7, 400);
    const Trace& trace = made.trace();
    const Stream& stream = trace.streams[0];
    const StackQuery query = query_of(trace, coloring);
    const auto course = StackCourse::compute(made.trace(), query, nullptr, nullptr);
    ASSERT_TRUE(course);
    EXPECT_TRUE(course->is_exact());
    const TimelineSpan whole = whole_span_of(stream);
    const auto columns = course->columns({whole.begin - 500, whole.end + 500}, stream.end_position());
    for (std::uint64_t event = 0; event < stream.end_position(); ++event) {
      Composition highest = sum_at(stream, query, event);
      highest.add(sum_at(stream, query, event + 1));
      EXPECT_TRUE(columns[event].bytes == sum_at(stream, query, columns[event].position).bytes);
      highest.position = columns[event].position;
      ASSERT_TRUE(highest == columns[event]) << event;
    }
  }
}

// Of each column: the highest total in it, and that composition existed at a time in the column.
TEST(StackCourse, a_column_shows_its_highest_point) {
  test::SmallTrace made;
  fill(made, 8, 1000);
  const Stream& stream = made.trace().streams[0];
  const StackQuery query = query_of(made.trace());
  const auto course = StackCourse::compute(made.trace(), query, nullptr, nullptr);
  const TimelineSpan whole = whole_span_of(stream);
  constexpr std::size_t count = 40;
  const auto columns = course->columns(whole, count);
  const auto reference = compute_timeline_columns(stream, {0, 1}, {}, count, TimelineEffort::exact, false);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(reference->columns[i].in_use.most, columns[i].total) << i;
    EXPECT_EQ(sum_at(stream, query, reference->columns[i].most_position).bytes, columns[i].bytes) << i;
  }
}

TEST(StackCourse, a_part_is_as_the_whole_there) {
  test::SmallTrace made;
  fill(made, 9, 600);
  const StackQuery query = query_of(made.trace());
  const TimelineSpan span{200'000, 300'000};
  const auto whole = StackCourse::compute(made.trace(), query, nullptr, nullptr),
             part = StackCourse::compute_span(made.trace(), query, span, nullptr);
  EXPECT_TRUE(whole->columns(span, 50) == part->columns(span, 50));
  EXPECT_EQ(span, part->span());
}

TEST(StackCourse, many_events_share_buckets_and_no_peak_is_lost) {
  test::SmallTrace made;
  fill(made, 10, 150'000);
  const Stream& stream = made.trace().streams[0];
  const StackQuery query = query_of(made.trace());
  const auto course = StackCourse::compute(made.trace(), query, nullptr, nullptr);
  EXPECT_EQ(16U, course->events_in_bucket());
  EXPECT_LE(course->memory_bytes(), 16U << 20);
  EXPECT_EQ(stream.peak(1).in_use_bytes, course->columns(whole_span_of(stream), 1)[0].total);
  const auto columns = course->columns(whole_span_of(stream), 100);
  EXPECT_EQ(sum_at(stream, query, stream.end_position()).bytes,
            course->columns({whole_span_of(stream).end, whole_span_of(stream).end + 10}, 2).back().bytes);
}

TEST(StackCourse, a_growing_stream_is_continued_and_another_one_is_not) {
  test::SmallTrace made;
  fill(made, 11, 300);
  const StackQuery query = query_of(made.trace());
  const auto begun = StackCourse::compute(made.trace(), query, nullptr, nullptr);
  const std::uint64_t seen = made.trace().streams[0].end_position();
  made.alloc(200 * block_size, 64, "f");
  const Stream& stream = made.trace().streams[0];
  PassControl control;
  const auto continued = StackCourse::compute(made.trace(), query, &*begun, &control),
             anew = StackCourse::compute(made.trace(), query, nullptr, nullptr);
  EXPECT_TRUE(anew->columns(whole_span_of(stream), 77) == continued->columns(whole_span_of(stream), 77));
  EXPECT_EQ(stream.end_position() - seen, control.total_events) << "only what is new was replayed";

  test::SmallTrace other;
  fill(other, 12, 500);
  const Stream& another = other.trace().streams[0];
  EXPECT_TRUE(StackCourse::compute(other.trace(), query, nullptr, nullptr)->columns(whole_span_of(another), 77) ==
              StackCourse::compute(other.trace(), query, &*begun, nullptr)->columns(whole_span_of(another), 77));
}

TEST(StackCourse, blocks_that_match_a_filter_are_lit_from_their_allocation_to_their_free) {
  test::SmallTrace made;
  fill(made, 14, 400);
  const Trace& trace = made.trace();
  StackQuery query = query_of(trace);
  query.where = "function=a size>2000";
  EXPECT_TRUE(can_follow_blocks(trace, query.where));
  const auto course = StackCourse::compute(trace, query, nullptr, nullptr);
  const TimelineSpan end{whole_span_of(trace.streams[0]).end, whole_span_of(trace.streams[0]).end + 10};
  std::uint64_t expected = 0;
  const StreamState& state = trace.streams[0].last_state();
  for (const LiveBlock& block : state.slots())
    if (block.is_live() && block.size > 2000 &&
        user_code_text(trace.streams[0].definitions(), block.stack).starts_with("a "))
      expected += block.size;
  std::uint64_t lit = 0;
  for (const std::uint64_t bytes : course->columns(end, 1)[0].lit) lit += bytes;
  EXPECT_EQ(expected, lit);
  EXPECT_GT(lit, 0U);
  for (const char* const of_a_time : {"age>1s", "lifetime<1ms", "state=pending", "nonsense:"})
    EXPECT_FALSE(can_follow_blocks(trace, of_a_time)) << of_a_time;
}

TEST(StackCourse, cancelled_gives_nothing) {
  test::SmallTrace made;
  fill(made, 13, 50);
  PassControl control;
  control.cancelled = true;
  EXPECT_FALSE(StackCourse::compute(made.trace(), query_of(made.trace()), nullptr, &control));
}

}  // namespace
}  // namespace hbmscope::gui
