// The time, heap and address of a trace in the window's state, through an App as the window drives it.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "analysis/document/json.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/app.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/span_text.h"
#include "app/gui/core/tables.h"
#include "app/gui/core/trace_tables.h"
#include "app/gui/core/view_row.h"
#include "app/gui/views/tables/table_answer.h"
#include "tests/gui_core/small_trace.h"
#include "tests/gui_core/test_home.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

class TraceMoments : public testing::Test {
 protected:
  TraceMoments() {
    app_ = std::make_unique<App>([] {});
  }

  // Event 1 makes the region, 2 to 5 take 10 MiB each, 6 and 7 free two, 8 fails.
  void open() {
    test::SmallTrace trace;
    trace.region(0, 100 * mib);
    for (std::uint64_t i = 0; i < 4; ++i) trace.alloc(i * 20 * mib, 10 * mib, "step");
    trace.free(0);
    trace.free(20 * mib);
    trace.run_out_of_memory(50 * mib);
    trace.add_heap("GPU 1");
    trace.region(0, 10 * mib);
    trace.alloc(0, 5 * mib);
    const std::string path = (home_ / "small.hbm").string();
    trace.write(path);
    give(Command(command::open_paths, {path}));
  }
  template <class... Args>
  void give(Args&&... args) {
    app_->commands().push(std::forward<Args>(args)...);
    settle();
  }
  void settle() {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    do {
      app_->commands().ask(Question::heap_map);
      app_->commands().ask(Question::summary);
      app_->update();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (app_->busy() && std::chrono::steady_clock::now() < give_up);
    ASSERT_FALSE(app_->busy());
  }
  const AppState& state() const { return app_->state(); }
  const TraceMoment& moment() const { return *state().answers().moment.value; }
  std::uint64_t in_use() const { return moment().states[0].heap(1).in_use_bytes; }

  test::TestHome home_;
  std::unique_ptr<App> app_;
};

TEST_F(TraceMoments, trace_opens_at_its_failure_with_the_heap_map) {
  open();
  ASSERT_TRUE(state().source()->trace);
  EXPECT_EQ(ViewKind::heap_map, state().position().view);
  EXPECT_EQ("oom", state().position().at);
  EXPECT_EQ(7U, moment().moment.positions[0]) << "just before the request that failed";
  EXPECT_EQ(20 * mib, in_use());
  const HeapMapAnswer& map = *state().answers().heap_map.value;
  EXPECT_EQ((HeapKey{0, 1}), map.heap) << "the heap that failed";
  EXPECT_EQ(100 * mib, map.spans.region_bytes);
}

// PyTorch's profiler reports the pool's size, but not its regions.
TEST_F(TraceMoments, free_memory_is_what_the_source_reports_where_regions_are_unknown) {
  const std::string path = (home_ / "a.trace.json").string();
  std::ofstream(path) << R"({"traceEvents": [
    {"ph": "i", "name": "[memory]", "pid": 7, "tid": 7, "ts": 1, "args": {"Device Id": 0, "Device Type": 1,
     "Bytes": 1048576, "Addr": 4096, "Total Allocated": 1048576, "Total Reserved": 4194304}},
    {"ph": "i", "name": "[memory]", "pid": 7, "tid": 7, "ts": 2, "args": {"Device Id": 0, "Device Type": 1,
     "Bytes": 1048576, "Addr": 2097152, "Total Allocated": 2097152, "Total Reserved": 4194304}}]})";
  give(Command(command::open_paths, {path}));
  give(CommandId::go_to_end);
  ASSERT_TRUE(state().answers().heap_map.value);
  EXPECT_EQ(0U, heap_sentence(*state().answers().heap_map.value)
                    .find("2.00 MiB of 4.00 MiB in use, 2.00 MiB free; the largest free block is unknown."))
      << heap_sentence(*state().answers().heap_map.value);
  app_->commands().ask(Question::timeline);
  settle();
  const auto timeline = state().answers().timeline.value;
  ASSERT_TRUE(timeline && !timeline->counters.empty());
  EXPECT_EQ("total_allocated", timeline->counters[0].name);
  EXPECT_EQ("2.00 MiB", text_from_counter(timeline->counters[0], 2 << 20));
}

TEST_F(TraceMoments, moment_moves_states_map_and_stacks) {
  open();
  give(CommandId::toggle_all_devices);
  give(command::set_moment, std::string("#3"));
  EXPECT_EQ(20 * mib, in_use());
  give(CommandId::go_to_peak);
  EXPECT_EQ(40 * mib, in_use());
  EXPECT_EQ(&moment(), state().answers().heap_map.value->moment.get());
  EXPECT_EQ(40 * static_cast<std::int64_t>(mib), state().answers().view.value->total.bytes)
      << "what lives at the peak is what stacks are counted of";
  EXPECT_EQ(40 * static_cast<std::int64_t>(mib), state().answers().summary.value->summary.total.bytes);
  give(CommandId::go_to_end);
  EXPECT_EQ(25 * static_cast<std::int64_t>(mib), state().answers().view.value->total.bytes);
}

TEST_F(TraceMoments, events_are_stepped_and_a_drag_is_one_step_back) {
  open();
  give(command::set_moment, std::string("#4"));
  give(CommandId::next_event);
  EXPECT_EQ(5U, moment().moment.positions[0]);
  give(CommandId::previous_event);
  EXPECT_EQ(4U, moment().moment.positions[0]);
  give(command::set_moment, std::string("#1"));
  give(command::move_moment, std::string("#2"));
  give(command::move_moment, std::string("#3"));
  give(CommandId::back);
  EXPECT_EQ(4U, moment().moment.positions[0]);
}

TEST_F(TraceMoments, failures_are_gone_to_and_none_is_said) {
  open();
  give(command::set_moment, std::string("start"));
  give(CommandId::next_failure);
  EXPECT_EQ(7U, moment().moment.positions[0]);
  give(CommandId::next_failure);
  EXPECT_EQ("No later failure.", state().window.notice);
  give(CommandId::go_to_end);
  give(CommandId::previous_failure);
  EXPECT_EQ(7U, moment().moment.positions[0]);
}

TEST_F(TraceMoments, moment_that_is_not_there_is_an_error_and_the_last_one_stays) {
  open();
  give(command::set_moment, std::string("#4711"));
  EXPECT_TRUE(state().answers().moment.failed());
  EXPECT_NE(std::string::npos, state().answers().moment.error.what.find("no event 4711"));
  EXPECT_EQ(20 * mib, in_use()) << "the last picture stays";
}

TEST_F(TraceMoments, heap_is_chosen_and_the_command_says_the_moment) {
  open();
  give(CommandId::go_to_end);
  give(command::choose_heap, HeapKey{0, 2});
  EXPECT_EQ(10 * mib, state().answers().heap_map.value->spans.region_bytes);
  give(command::set_moment, std::string("peak"));
  EXPECT_NE(std::string::npos, open_command(state()).find("--at peak")) << open_command(state());
}

TEST_F(TraceMoments, next_file_begins_at_its_own_moment) {
  open();
  give(command::set_moment, std::string("#3"));
  give(command::choose_heap, HeapKey{0, 2});
  test::SmallTrace trace;
  trace.region(0, mib);
  trace.write((home_ / "next.hbm").string());
  give(Command(command::open_paths, {(home_ / "next.hbm").string()}));
  EXPECT_EQ("", state().position().at) << "nothing ever lived in it";
  EXPECT_TRUE(state().position().heap.empty());
  give(command::set_moment, std::string("start"));
  give(CommandId::close_file);
  EXPECT_EQ("oom", state().position().at);
  EXPECT_EQ(ViewKind::heap_map, state().position().view);
}

TEST_F(TraceMoments, trace_without_a_failure_opens_at_its_peak_unless_a_moment_is_named) {
  test::SmallTrace trace;
  trace.region(0, 100 * mib);
  trace.alloc(0, 10 * mib);
  trace.free(0);
  const std::string path = (home_ / "peak.hbm").string();
  trace.write(path);
  give(Command(command::open_paths, {path}));
  EXPECT_EQ("peak", state().position().at);
  give(CommandId::go_to_end);
  EXPECT_EQ("end", state().position().at);
  give(CommandId::close_file);
  // Like the command line: the time follows the file, and arrives before the file is read.
  app_->commands().push(Command(command::open_paths, {path}));
  app_->commands().push(command::set_moment, std::string("end"));
  settle();
  EXPECT_EQ("end", state().position().at);
}

TEST_F(TraceMoments, tables_have_each_answer_that_has_no_view) {
  open();
  const auto ask = [&](std::string_view name) {
    app_->commands().push(command::set_table, std::string(name));
    app_->commands().ask(Question::table);
    settle();
    app_->commands().ask(Question::table);
    settle();
  };
  ask("");
  ASSERT_TRUE(state().answers().table.value);
  EXPECT_TRUE(state().answers().table.value->says_something);
  EXPECT_EQ("heaps", state().answers().table.value->row->name);
  for (const AnswerRow* row : tables_of_trace()) {
    ask(row->name);
    ASSERT_FALSE(state().answers().table.failed()) << row->name;
    EXPECT_EQ(row, state().answers().table.value->row);
    EXPECT_TRUE(row->view.empty());
  }
  for (const AnswerRow* row : answer_table())
    if (!row->view.empty()) {
      EXPECT_TRUE(parse_view_kind(row->view)) << row->view;
    }
  ask("nothing");
  EXPECT_TRUE(state().answers().table.failed());
}

TEST_F(TraceMoments, range_is_computed_copied_and_cleared) {
  open();
  give(Command(command::set_range, {"#1", "#7"}));
  EXPECT_TRUE(view_exists(state(), ViewKind::range));
  app_->commands().ask(Question::range);
  settle();
  ASSERT_TRUE(state().answers().range.value);
  EXPECT_EQ((BlockSum{4, 40 * mib}), state().answers().range.value->summary.total.allocated);
  EXPECT_EQ((BlockSum{2, 20 * mib}), state().answers().range.value->summary.total.survived);
  const std::string head = range_sentence(*state().answers().range.value, nullptr);
  EXPECT_TRUE(head.starts_with("From 0.00 µs (event 1 of ")) << head;
  EXPECT_NE(std::string::npos, head.find(" to 7.00 µs (event 7 of ")) << head;
  EXPECT_TRUE(head.ends_with(": 7 µs. Of GPU 0.")) << head;
  give(command::set_view, ViewKind::range);
  EXPECT_NE(std::string::npos, report_command(state()).find("--from '#1' --at '#7'")) << report_command(state());
  EXPECT_NE(std::string::npos, open_command(state()).find("--view range --from '#1' --at '#7'"))
      << open_command(state());
  give(CommandId::escape);
  EXPECT_TRUE(state().position().range.empty());
  EXPECT_FALSE(view_exists(state(), ViewKind::range));
  EXPECT_EQ(ViewKind::timeline, state().position().view);
  give(CommandId::back);
  EXPECT_EQ("#1", state().position().range.from);
}

TEST_F(TraceMoments, figures_of_the_heap_map_say_what_changed_since_the_pin) {
  open();
  give(command::set_pin, std::string("#2"));
  const auto& map = state().answers().heap_map;
  ASSERT_TRUE(map.value);
  ASSERT_EQ(HeapColoring::change, map.value->spans.coloring);
  const TextTable table = table_from_heap(*map.value);
  ASSERT_EQ("Change", table.columns.back().title);
  std::set<std::string> changes;
  for (const auto& row : table.rows) changes.insert(row.back().shown);
  EXPECT_TRUE(changes.contains("new")) << "taken since";
  EXPECT_TRUE(changes.contains("")) << "what is free";
}

TEST_F(TraceMoments, what_is_free_and_why_it_failed_are_answered) {
  open();
  for (const Question question : {Question::free, Question::free_history, Question::failure, Question::sizes})
    app_->commands().ask(question);
  settle();
  const Answers& answers = state().answers();
  ASSERT_TRUE(answers.free.value && answers.free_history.value && answers.failure.value && answers.sizes.value);
  EXPECT_EQ(80 * mib, answers.free.value->free->bytes);
  EXPECT_EQ("fragmentation", json_from_document(*answers.failure.value->document)["verdict"]);
  EXPECT_EQ(7U, answers.failure.value->event);
  EXPECT_EQ(1U, answers.failure.value->of);
  EXPECT_EQ(10 * mib, answers.free_history.value->largest_request_at(7)->bytes);
  EXPECT_EQ(2U, answers.sizes.value->metrics.live_sizes.count());
  const FreeBlocks& free = *answers.free.value->free;
  const LargestRequest* before = answers.free_history.value->largest_request_at(7);
  EXPECT_EQ("largest request so far 10.0 MiB: fits", largest_request_text(free, before, std::nullopt));
  EXPECT_EQ("largest request so far 50.0 MiB, which failed: does not fit", largest_request_text(free, before, 50 * mib))
      << "what is refused at the moment is the largest so far";
  EXPECT_EQ("", largest_request_text(free, nullptr, std::nullopt));
  const LargestRequest earlier{1, 60 * mib, false};
  EXPECT_EQ("largest request so far 60.0 MiB: does not fit without growing the pool",
            largest_request_text(free, &earlier, std::nullopt))
      << "it was granted once, and the pool may grow again";
}

TEST_F(TraceMoments, line_of_code_keeps_its_color_when_the_moment_moves) {
  test::SmallTrace trace;
  trace.region(0, 100 * mib);
  trace.alloc(0, 10 * mib, "small");
  trace.alloc(20 * mib, 30 * mib, "large");
  trace.free(20 * mib);
  trace.write((home_ / "colors.hbm").string());
  give(Command(command::open_paths, {(home_ / "colors.hbm").string()}));
  const auto shade_of = [&](std::uint64_t address) {
    return state().answers().heap_map.value->spans.find(address)->shade;
  };
  EXPECT_EQ(1, shade_of(0)) << "it opens at the peak, where this is the smaller one";
  EXPECT_EQ(0, shade_of(20 * mib));
  give(CommandId::go_to_end);
  EXPECT_EQ(1, shade_of(0)) << "though it is the largest here";
}

TEST_F(TraceMoments, selected_address_names_the_line_in_all_views) {
  open();
  give(command::select_address, PlaceToSelect{0x2800000, {"step", "train.py", 10}});
  EXPECT_EQ(40 * mib, state().position().address);
  EXPECT_NE(FrameIndex::none, state().context().selected);
  give(CommandId::escape);
  EXPECT_FALSE(state().position().address);
  EXPECT_TRUE(state().position().selection.empty());
}

TEST(MomentOfAStream, is_named_with_its_number_where_there_are_several) {
  test::SmallTrace first, second;
  for (std::uint64_t i = 0; i < 10; ++i) first.alloc(i * mib, mib);
  for (std::uint64_t i = 0; i < 6; ++i) second.alloc(i * mib, mib);
  Trace trace;
  trace.streams.push_back(first.trace().streams[0].version());
  EXPECT_EQ("#4", text_from_position(trace, 0, 4));
  trace.streams.push_back(second.trace().streams[0].version());
  EXPECT_EQ("2#4", text_from_position(trace, 1, 4));
  const auto moment = find_moment(trace, "2#4");
  ASSERT_TRUE(moment) << moment.error().text();
  EXPECT_EQ((std::vector<std::uint64_t>{4, 4}), moment->positions) << "one event a microsecond in both";
  const auto named = MomentName(trace, 1, 4).find_in(trace);
  ASSERT_TRUE(named) << named.error().text();
  EXPECT_EQ(moment->positions, named->positions);
  EXPECT_EQ(moment->text, named->text);
  EXPECT_FALSE(MomentName("#4").find_in(trace)) << "it does not say which stream";
  EXPECT_FALSE(MomentName(trace, 1, 4711).find_in(trace)) << "beyond the end";
  for (const char* text : {"#4", "0#4", "3#4", "2#7", "x#4", "2#"}) EXPECT_FALSE(find_moment(trace, text)) << text;
}

// Like an out-of-memory text without a listing: its reader wants to see the reason.
TEST(ChooseHeap, one_that_never_held_anything_is_shown_where_a_request_failed_on_it) {
  test::SmallTrace trace(false);
  trace.add_heap("other", false);
  EXPECT_TRUE(choose_heap(trace.trace(), {}).empty());
  trace.run_out_of_memory(50 * mib);
  EXPECT_EQ(choose_heap(trace.trace(), {}), (HeapKey{0, 2}));
  ASSERT_EQ(heaps_of(trace.trace()).size(), 1U);
  EXPECT_EQ(heaps_of(trace.trace())[0].name, "other");
}

TEST(HeapKeyText, is_read_back_and_nonsense_is_refused) {
  EXPECT_EQ((HeapKey{2, 7}), parse_heap_key(text_from_heap_key({2, 7})));
  for (const char* text : {"", "1", "1:", ":1", "0:1", "1:2x", "x:1"}) EXPECT_FALSE(parse_heap_key(text)) << text;
}

// Nothing happened for some time before the request that failed: a click there is not at the failure.
TEST_F(TraceMoments, a_time_before_a_failure_is_not_the_failure) {
  open();
  const Trace& trace = *state().source()->trace;
  const Stream& stream = trace.streams[0];
  const FailureEvent& failure = stream.failures()[0];
  const HeapKey heap{0, 1};
  give(command::set_moment, MomentName(trace, 0, failure.event));
  EXPECT_EQ(0U, phrase_of(*state().answers().moment.value, heap).find("at the failure"));
  const std::int64_t clicked = stream.since_start_ns(failure.time_ns) - 300;
  give(command::set_moment, MomentName(trace, 0, failure.event, clicked));
  const TraceMoment& moment = *state().answers().moment.value;
  EXPECT_EQ(failure.event, moment.position(heap));
  EXPECT_EQ(clicked, stream.since_start_ns(moment.time_ns(heap)));
  EXPECT_EQ(std::string::npos, phrase_of(moment, heap).find("failure")) << phrase_of(moment, heap);
}

}  // namespace
}  // namespace hbmscope::gui
