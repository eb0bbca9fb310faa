// How much of a trace's source is here, in words.
#include "app/gui/core/read_so_far.h"

#include <gtest/gtest.h>

#include "tests/analysis/trace_builder.h"
#include "tests/gui_core/small_trace.h"

namespace hbmscope::gui {
namespace {

Source source_of(const Trace& trace) {
  Source source;
  source.state = AnswerState::ready;
  source.trace = std::shared_ptr<const Trace>(std::shared_ptr<const Trace>(), &trace);
  return source;
}

TEST(ReadSoFar, counts_events_as_import_does_and_markers_separately) {
  test::SmallTrace made;
  made.region(0, 1 << 20);
  made.alloc(0, 1024);
  made.mark("step 1");
  made.free(0);
  const ReadSoFar taken = read_so_far(source_of(made.trace()));
  EXPECT_EQ("all 3 events and 1 marker", taken.words);
  EXPECT_TRUE(taken.is_whole);
}

TEST(ReadSoFar, what_was_lost_is_a_part_of_what_there_was) {
  TraceBuilder made;
  const std::uint32_t heap = made.heap("GPU 0", 0);
  made.alloc(heap, 0x1000, 1024);
  made.alloc(heap, 0x2000, 1024);
  made.writer.note_loss(96, made.time_ns, made.time_ns, heap);
  made.free(heap, 0x1000);
  made.writer.flush();
  const ReadSoFar taken = read_so_far(source_of(made.trace));
  EXPECT_EQ("3 of 99 events, 96 lost", taken.words);
  EXPECT_FALSE(taken.is_whole);
}

TEST(ReadSoFar, what_a_reader_left_out_is_said_where_it_is_no_number_of_events) {
  test::SmallTrace made;
  made.region(0, 1 << 20);
  Source source = source_of(made.trace());
  auto copy = std::make_shared<Trace>();
  copy->streams.push_back(made.trace().streams[0].version());
  copy->import.add("reports_left_out", Severity::loss, 1, "They make no sense.");
  source.trace = copy;
  const ReadSoFar taken = read_so_far(source);
  EXPECT_EQ("1 event, incomplete", taken.words);
  EXPECT_FALSE(taken.is_whole);
}

}  // namespace
}  // namespace hbmscope::gui
