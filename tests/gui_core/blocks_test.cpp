// Single blocks without a window: the find text, the table, the Inspector's texts, the commands.
#include "analysis/answers/top.h"
#include "analysis/query/block_find.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/app.h"
#include "app/gui/core/block_table.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/filter_text.h"
#include "app/gui/core/no_match.h"
#include "app/gui/core/span_text.h"
#include "app/gui/views/heap_map/heap_minimap.h"
#include "app/gui/views/inspector/span_detail.h"

#include <chrono>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "tests/gui_core/colors_of.h"
#include "tests/gui_core/small_trace.h"
#include "tests/gui_core/test_home.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

TEST(BlockFind, addresses_offsets_and_sizes_by_themselves_are_what_they_look_like) {
  EXPECT_EQ("address=0x7f3a14000000", where_from_find("0x7f3a14000000"));
  EXPECT_EQ("address=0x7f3a14000000", where_from_find(" 7f3a14000000 "));
  EXPECT_EQ("(address=0x139887842918400 or address=139887842918400)", where_from_find("139887842918400"));
  EXPECT_EQ("offset=3221225472", where_from_find("+3GiB"));
  EXPECT_EQ("(size>=534186558 size<=539555266)", where_from_find("512MiB"));
  EXPECT_EQ("adam", where_from_find("adam"));
  EXPECT_EQ("deadbeef", where_from_find("deadbeef")) << "a word without any digit";
  EXPECT_EQ("size>1GiB age>10s", where_from_find("size>1GiB age>10s"));
  EXPECT_EQ("(a or b) (c)", where_of_both("a or b", "c"));
  EXPECT_EQ("c", where_of_both(" ", "c"));
}

TEST(Minimap, each_line_is_the_share_in_use_as_counted_byte_by_byte) {
  test::SmallTrace trace;
  std::mt19937 random(7);
  std::vector<int> bytes;
  for (const std::uint64_t begin : {std::uint64_t{0}, std::uint64_t{10'000}, std::uint64_t{50'000}}) {
    const std::uint64_t size = 1000 + random() % 3000;
    trace.region(begin, size);
    if (begin > 0) bytes.insert(bytes.end(), 3, 0);  // The notch, at one byte per pixel.
    for (std::uint64_t at = 0; at < size;) {
      const std::uint64_t span = std::min<std::uint64_t>(size - at, 1 + random() % 200);
      const bool is_block = random() % 2 == 0;
      if (is_block) trace.alloc(begin + at, span);
      bytes.insert(bytes.end(), span, is_block ? 1 : 0);
      at += span;
    }
  }
  const HeapSpans map = compute_heap_spans(trace.trace().streams[0], trace.state(), 1, HeapColoring::size, {});
  const int lines = 37;
  const HeapLine line_of_heap(map, 1);
  const std::vector<float> shares = compute_minimap(map, line_of_heap, lines);
  const double per_line = static_cast<double>(bytes.size()) / lines;
  for (int line = 0; line < lines; ++line) {
    double used = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const double from = std::max(static_cast<double>(i), line * per_line);
      const double to = std::min(static_cast<double>(i + 1), (line + 1) * per_line);
      if (to > from) used += bytes[i] * (to - from);
    }
    EXPECT_NEAR(used / per_line, shares[static_cast<std::size_t>(line)], 1e-3) << line;
  }
  for (const double place : {0.0, 0.2, 0.5, 0.77}) {
    const std::uint64_t address = address_of_minimap(map, line_of_heap, place);
    EXPECT_NEAR(place, minimap_place(line_of_heap, address), 1e-3);
    EXPECT_NE(nullptr, map.find(address));
  }
}

TEST(HeapSpans, streams_have_hues_and_rounding_has_steps) {
  test::SmallTrace trace;
  trace.region(0, 1000);
  trace.alloc(0, 100);
  trace.alloc(100, 100, {}, 1);
  trace.alloc(200, 100, {}, 5);
  trace.alloc(300, 100, {}, 60);
  const auto spans_by = [&](HeapColoring coloring) {
    return compute_heap_spans(trace.trace().streams[0], trace.state(), 1, coloring, test::colors_of(trace.trace()));
  };
  const HeapSpans waste = spans_by(HeapColoring::waste);
  EXPECT_TRUE(waste.is_ordered());
  for (const auto& [address, shade] : {std::pair{0, 0}, {100, 2}, {200, 3}, {300, 5}})
    EXPECT_EQ(shade, waste.find(static_cast<std::uint64_t>(address))->shade) << address;
  ASSERT_EQ(4U, waste.legend.size());
  EXPECT_EQ("1 to 5 %", waste.legend[1].name);
  const HeapSpans streams = spans_by(HeapColoring::device_stream);
  ASSERT_EQ(1U, streams.legend.size());
  EXPECT_EQ("stream 0", streams.legend[0].name);
  EXPECT_EQ(400U, streams.legend[0].bytes);
  EXPECT_NE(several_shade, streams.find(0)->shade);
  const HeapSpans tags = spans_by(HeapColoring::tag);
  EXPECT_EQ("(untagged)", tags.legend[0].name);
  EXPECT_EQ(several_shade, tags.find(0)->shade);
  HeapInfo unreported;
  EXPECT_FALSE(row_of(HeapColoring::waste).why_not(unreported, false).empty());
  for (const Coloring& row : coloring_table()) {
    EXPECT_EQ(row.kind, parse_coloring(row.key));
    EXPECT_EQ(&row, &row_of(row.kind));
    EXPECT_TRUE(row.kind == HeapColoring::automatic || row.shade != nullptr || row.is_of_a_box()) << row.key;
    EXPECT_NE(row.is_of_a_box(), !row.why_not_of_a_box.empty() || row.kind == HeapColoring::automatic) << row.key;
  }
}

TEST(HeapSpans, a_category_always_has_the_same_hue) {
  test::SmallTrace trace;
  trace.region(0, 1000);
  trace.alloc(0, 100);
  trace.alloc(100, 300);
  trace.alloc(400, 200);
  trace.say_of(1, "category", "parameters");
  trace.say_of(2, "category", "optimizer state");
  const HeapSpans map = compute_heap_spans(trace.trace().streams[0], trace.state(), 1, HeapColoring::category, {});
  EXPECT_EQ(0, map.find(0)->shade);
  EXPECT_EQ(2, map.find(100)->shade);
  EXPECT_EQ(several_shade, map.find(400)->shade);
  ASSERT_EQ(3U, map.legend.size());
  EXPECT_EQ("optimizer state", map.legend[0].name);
  EXPECT_EQ("category=\"optimizer state\"", map.legend[0].where);
  EXPECT_EQ("(other)", map.legend[2].name);
  EXPECT_EQ("", map.legend[2].where);
}

class BlocksTest : public testing::Test {
 protected:
  BlocksTest() {
    app_ = std::make_unique<App>([] {});
    test::SmallTrace trace;
    trace.region(0x1000000, 100 * mib);           // Event 0.
    trace.alloc(0x1000000, 10 * mib, "forward");  // 1
    trace.alloc(0x1000000 + 20 * mib, 10 * mib, "backward", 4096);
    trace.alloc(0x1000000 + 40 * mib, 30 * mib, "forward");
    trace.free(0x1000000);                    // 4
    trace.alloc(0x1000000, 2 * mib, "step");  // 5
    trace.add_heap("GPU 1");
    trace.region(0x90000000, 10 * mib);           // 6
    trace.alloc(0x90000000, 4 * mib, "forward");  // 7
    trace.heap_of(1);
    trace.free(0x1000000 + 20 * mib);  // 8
    const std::string path = (home_ / "small.hbm").string();
    trace.write(path);
    give(Command(command::open_paths, {path}));
    give(command::choose_heap, HeapKey{0, 1});
    give(CommandId::toggle_all_devices);
    give(CommandId::go_to_end);
  }
  template <class... Args>
  void give(Args&&... args) {
    app_->commands().push(std::forward<Args>(args)...);
    settle();
  }
  void settle() {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    do {
      for (const Question question : {Question::heap_map, Question::blocks, Question::lifetimes, Question::address})
        app_->commands().ask(question);
      app_->update();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (app_->busy() && std::chrono::steady_clock::now() < give_up);
    app_->update();
    ASSERT_FALSE(app_->busy());
  }
  const ViewPosition& position() const { return app_->state().position(); }
  const Answers& answers() const { return app_->state().answers(); }
  std::string value(const SpanDetail& detail, std::string_view section, std::string_view name) const {
    for (const DetailSection& one : detail.sections)
      for (const DetailLine& line : one.lines)
        if (one.title == section && line.name == name) return line.value;
    return "(none)";
  }
  SpanDetail detail() const {
    const HeapMapAnswer& map = *answers().heap_map.value;
    return detail_of_span(map, *map.spans.find(*position().address), answers().address.value.get());
  }

  test::TestHome home_;
  std::unique_ptr<App> app_;
};

TEST_F(BlocksTest, table_is_of_all_heaps_and_its_filter_and_order_are_part_of_the_state) {
  EXPECT_EQ("3 of 3 blocks, 36.0 MiB", blocks_sentence(*answers().blocks.value));
  give(command::set_filter, std::string("forward size>5MiB"));
  EXPECT_EQ("1 of 3 blocks, 30.0 MiB of 36.0 MiB", blocks_sentence(*answers().blocks.value));
  give(command::set_filter, std::string("forward size>5MiB device:1"));
  EXPECT_TRUE(answers().blocks.value->list.rows.empty());
  give(command::set_filter, std::string("device:1"));
  EXPECT_EQ("1 of 3 blocks, 4.00 MiB of 36.0 MiB", blocks_sentence(*answers().blocks.value));
  give(CommandId::clear_filter);
  give(command::set_block_order, BlockSorting{BlockOrder::address, true});
  const BlocksAnswer& blocks = *answers().blocks.value;
  const TextTable table = table_from_blocks(blocks, blocks.list.rows);
  ASSERT_EQ(3U, table.rows.size());
  EXPECT_EQ("0x1000000", table.rows[0][5].shown);
  EXPECT_EQ("2.00 MiB", table.rows[0][0].shown);
  EXPECT_EQ("2097152", table.rows[0][0].exact);
  EXPECT_EQ("step  train.py:10", table.rows[0][7].shown);
  EXPECT_EQ("stays", table.rows[2][4].shown);
  give(CommandId::show_blocks);
  EXPECT_NE(std::string::npos, report_command(app_->state()).find("--blocks 0 --order address --ascending"));
}

TEST_F(BlocksTest, tables_and_graphs_are_about_the_device_of_the_shown_heap_unless_all_are_chosen) {
  const auto total = [&] { return static_cast<std::uint64_t>(answers().view.value->total.bytes); };
  EXPECT_EQ("all 2 devices", name_of_scope(app_->state()));
  EXPECT_EQ(36 * mib, total());
  give(command::choose_heap, HeapKey{0, 2});
  EXPECT_EQ("device 1", name_of_scope(app_->state()));
  EXPECT_EQ("1 of 1 blocks, 4.00 MiB", blocks_sentence(*answers().blocks.value));
  EXPECT_EQ(4 * mib, total());
  give(command::choose_heap, HeapKey{0, 1});
  EXPECT_EQ("2 of 2 blocks, 32.0 MiB", blocks_sentence(*answers().blocks.value));
  EXPECT_EQ(32 * mib, total());
  give(command::set_filter, std::string("size>5MiB"));
  EXPECT_EQ("1 of 2 blocks, 30.0 MiB of 32.0 MiB", blocks_sentence(*answers().blocks.value));
  EXPECT_EQ(30 * mib, static_cast<std::uint64_t>(answers().view.value->selected.bytes));
  EXPECT_EQ(32 * mib, total()) << "percentages are of the device";
  give(CommandId::toggle_all_devices);
  EXPECT_EQ(36 * mib, total());
}

TEST(StackLines, begin_with_your_code_and_say_how_many_are_left_out) {
  test::SmallTrace trace;
  trace.region(0, mib);
  trace.alloc(0, 512, "step");
  const Stream& stream = trace.trace().streams[0];
  const std::uint32_t stack = stream.last_state().slots().front().stack;
  const auto lines = stack_lines(stream.definitions(), stack, 8);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ("step  train.py:10", lines.front());
  EXPECT_EQ((std::vector<std::string>{"step  train.py:10", "1 more frame"}),
            stack_lines(stream.definitions(), stack, 1));
  EXPECT_TRUE(stack_lines(stream.definitions(), 0, 8).empty());
}

TEST_F(BlocksTest, all_devices_are_courses_on_one_axis) {
  app_->commands().ask(Question::timeline);
  settle();
  app_->commands().ask(Question::timeline);
  settle();
  ASSERT_TRUE(answers().device_stacks.value);
  const std::vector<DeviceStack>& devices = answers().device_stacks.value->devices;
  ASSERT_EQ(2U, devices.size());
  EXPECT_EQ((HeapKey{0, 1}), devices[0].heap);
  EXPECT_EQ((HeapKey{0, 2}), devices[1].heap);
  EXPECT_EQ(50 * mib, devices[0].peak);
  const TimelineSpan whole = answers().timeline.value->whole;
  EXPECT_EQ(4 * mib, devices[1].course->columns(whole, 100).back().total);
  EXPECT_EQ(0U, devices[1].course->columns(whole, 100).front().total);
}

TEST_F(BlocksTest, a_selected_frame_brings_out_its_blocks) {
  give(command::select_frame, FrameKey{"forward", "train.py", 0});
  ASSERT_NE(nullptr, highlighted_blocks(app_->state()));
  EXPECT_EQ("2 of 3 blocks, 34.0 MiB of 36.0 MiB", blocks_sentence(*highlighted_blocks(app_->state())));
  give(command::set_filter, std::string("size>5MiB"));
  EXPECT_EQ(1U, highlighted_blocks(app_->state())->list.rows.size()) << "that pass the filter";
  give(command::set_by, FrameBy::line);
  give(command::select_frame, FrameKey{"forward", "train.py", 11});
  EXPECT_TRUE(highlighted_blocks(app_->state())->list.rows.empty()) << "another line of the function";
  give(command::select_frame, FrameKey{"forward", "train.py", 10});
  EXPECT_EQ(1U, highlighted_blocks(app_->state())->list.rows.size());
  give(command::set_by, FrameBy::file);
  EXPECT_EQ(1U, highlighted_blocks(app_->state())->list.rows.size()) << "what passes the filter: a file is no frame";
  give(CommandId::clear_selection);
  EXPECT_EQ(answers().blocks.value, highlighted_blocks(app_->state()));
  give(CommandId::clear_filter);
  EXPECT_EQ(nullptr, highlighted_blocks(app_->state()));
}

// The blocks at 0x1000000 (2 MiB) and at 0x3800000 (30 MiB).
TEST_F(BlocksTest, several_blocks_are_selected_together_with_their_sum) {
  constexpr std::uint64_t small = 0x1000000, large = 0x1000000 + 40 * mib;
  give(command::select_also, PlaceToSelect{small, {}, HeapKey{0, 1}});
  EXPECT_EQ(small, position().address);
  EXPECT_FALSE(selects_blocks(position())) << "one block is what it always was";
  give(command::select_also, PlaceToSelect{large, {}, HeapKey{0, 1}});
  ASSERT_NE(nullptr, highlighted_blocks(app_->state()));
  EXPECT_EQ("2 of 3 blocks, 32.0 MiB of 36.0 MiB", blocks_sentence(*highlighted_blocks(app_->state())));
  const std::string command = open_command(app_->state());
  EXPECT_NE(std::string::npos, command.find("/0x1000000,0x3800000")) << command;
  give(command::select_also, PlaceToSelect{small, {}, HeapKey{0, 1}});
  EXPECT_EQ(large, position().address) << "taken out again";
  EXPECT_TRUE(position().also.empty());
  give(command::select_also, PlaceToSelect{small, {}, HeapKey{0, 1}});
  give(CommandId::back);
  EXPECT_EQ(large, position().address);
  EXPECT_TRUE(position().also.empty());
  give(CommandId::forward);
  EXPECT_EQ(std::vector<std::uint64_t>{small}, position().also);
  give(command::select_address, PlaceToSelect{small});
  EXPECT_TRUE(position().also.empty()) << "whatever selects one block selects no others";
}

TEST_F(BlocksTest, next_hit_goes_from_address_to_address_and_on_to_the_next_heap) {
  give(command::set_filter, std::string("forward"));
  give(CommandId::find_next);
  EXPECT_EQ(0x1000000 + 40 * mib, position().address);
  give(CommandId::find_next);
  EXPECT_EQ(0x90000000U, position().address);
  EXPECT_EQ((HeapKey{0, 2}), position().heap);
  give(CommandId::find_next);
  EXPECT_EQ(0x1000000 + 40 * mib, position().address) << "round again";
  give(CommandId::find_previous);
  EXPECT_EQ(0x90000000U, position().address);
  give(CommandId::back);
  EXPECT_EQ(0x1000000 + 40 * mib, position().address);
  give(command::set_filter, std::string("size>1GiB"));
  give(CommandId::find_next);
  EXPECT_NE(std::string::npos, app_->state().window.notice.find("No live block matches"))
      << app_->state().window.notice;
}

TEST_F(BlocksTest, largest_free_is_selected_and_then_the_next_smaller_one) {
  give(CommandId::go_to_largest_free);
  EXPECT_EQ(0x1000000 + 2 * mib, position().address) << "38 MiB";
  give(CommandId::go_to_largest_free);
  EXPECT_EQ(0x1000000 + 70 * mib, position().address) << "30 MiB";
  give(CommandId::go_to_largest_free);
  EXPECT_EQ(0x1000000 + 2 * mib, position().address) << "the largest again";
}

TEST_F(BlocksTest, an_address_is_found_in_whichever_heap_it_is) {
  give(command::go_to_address, std::uint64_t{0x90000010});
  EXPECT_EQ((HeapKey{0, 2}), position().heap);
  EXPECT_EQ(0x90000000U, position().address);
  EXPECT_EQ("forward", position().selection.function);
  give(command::go_to_address, std::uint64_t{0x10});
  EXPECT_EQ("No heap has memory at 0x10 at this time.", app_->state().window.notice);
}

TEST_F(BlocksTest, inspector_says_when_a_block_came_when_it_goes_and_what_it_becomes) {
  give(command::set_moment, std::string("#3"));
  give(command::select_address, PlaceToSelect{0x1000000, {}, HeapKey{0, 1}});
  SpanDetail first = detail();
  EXPECT_EQ("forward  train.py:10", first.title);
  EXPECT_EQ("10.0 MiB", value(first, "Size", "block"));
  EXPECT_EQ("0 B", value(first, "Size", "rounding"));
  EXPECT_EQ("+0 B", value(first, "Where", "offset"));
  EXPECT_EQ("1 µs, event 1", value(first, "When", "allocated"));
  EXPECT_EQ("4 µs, event 4", value(first, "When", "freed"));
  EXPECT_EQ("3.00 µs", value(first, "When", "lifetime"));
  EXPECT_EQ("step  train.py:10, 2.00 MiB, at 5 µs, event 5", value(first, "When", "reused by"));
  for (const DetailSection& section : first.sections)
    for (const DetailLine& line : section.lines)
      EXPECT_EQ(line.at.has_value(), line.name == "allocated" || line.name == "freed" || line.name == "reused by")
          << line.name << ": a time of another event is a link";
  EXPECT_EQ("the end of the region", value(first, "Neighbours", "before"));
  EXPECT_EQ("10.0 MiB  free", value(first, "Neighbours", "after"));
  ASSERT_EQ(2U, first.stack.size());
  EXPECT_EQ("main  train.py:90", first.stack[1].text);
  EXPECT_TRUE(first.stack[0].is_own);
  ASSERT_EQ(2U, answers().address.value->history.rows.size());
  EXPECT_TRUE(history_line(*answers().address.value, 0).is_now);
  EXPECT_EQ("2 allocations, oldest first", title_of_history(2, 2));
  EXPECT_EQ("13 of 180 allocations, oldest first", title_of_history(13, 180));
  give(command::select_address, PlaceToSelect{0x2400000});
  EXPECT_EQ("4.00 KiB, 0.0 % of the block", value(detail(), "Size", "rounding"));
}

TEST_F(BlocksTest, go_to_release_shows_the_time_after_the_block_was_freed_and_back_returns) {
  give(command::set_moment, std::string("#3"));
  give(command::go_to_release, PlaceToSelect{0x1000000, {}, HeapKey{0, 1}});
  EXPECT_EQ("#5", position().at.text()) << "after event 4";
  EXPECT_EQ("Free", detail().title);
  give(CommandId::back);
  EXPECT_EQ("#3", position().at.text());
  give(command::set_moment, std::string("#6"));
  give(command::go_to_release, PlaceToSelect{0x1000000 + 40 * mib, {}, HeapKey{0, 1}});
  EXPECT_EQ("#6", position().at.text());
  EXPECT_EQ("This block is never freed.", app_->state().window.notice);
}

std::string text_of(const std::vector<AnswerChip>& parts) {
  std::string text;
  for (const AnswerChip& part : parts) text += part.words;
  return text;
}

TEST_F(BlocksTest, an_address_that_is_free_now_says_when_blocks_were_there) {
  give(command::set_moment, std::string("#5"));
  give(command::set_filter, std::string("0x1000000"));
  const auto words = words_of_no_match(app_->state());
  EXPECT_EQ("0x1000000 is free now; 2 blocks were here: the last by forward  train.py:10 until 4 µs, the next at 5 µs",
            text_of(words));
  give(*words.back().command);
  EXPECT_EQ(1U, answers().blocks.value->list.rows.size()) << "the next block";
  EXPECT_FALSE(answers().blocks.value->gone);
  give(command::set_moment, std::string("#5"));
  give(*words[1].command);
  ASSERT_EQ(1U, answers().blocks.value->list.rows.size()) << "the last one, just before it was freed";
  EXPECT_EQ(10 * mib, answers().blocks.value->facts(answers().blocks.value->list.rows[0]).block.size);
  give(command::set_filter, std::string("0x1000000 size>1"));
  give(command::set_moment, std::string("#5"));
  EXPECT_EQ("Nothing in use at this time matches the filter.", text_of(words_of_no_match(app_->state())));
}

TEST_F(BlocksTest, a_block_is_named_by_what_it_holds) {
  test::SmallTrace trace;
  trace.region(0x1000000, 100 * mib);
  trace.alloc(0x1000000, 10 * mib, "forward");
  trace.alloc(0x1000000 + 10 * mib, 10 * mib, "forward");
  trace.say_of(1, "name", "history[3]");
  trace.say_of(1, "held by", "global of train.py");
  trace.say_of(1, "category", "activations");
  trace.write((home_ / "named.hbm").string());
  give(Command(command::open_paths, {(home_ / "named.hbm").string()}));
  const HeapMapAnswer& map = *answers().heap_map.value;
  const BlockLabels* labels = labels_of_stream(app_->state(), *map.moment->trace, 0);
  ASSERT_NE(nullptr, labels);
  EXPECT_TRUE(answers().names.value->has_names);
  const Table names = describe_arrays(compute_holder_rows(*map.moment->trace, map.moment->states));
  ASSERT_EQ(1U, names.rows.size());
  const SpanText text = text_from_span(map, *map.spans.find(0x1000000), labels);
  EXPECT_EQ("history[3]", text.title);
  EXPECT_EQ("activations, held by global of train.py", text.lines.front());
  const auto& slots = map.moment->state_of(map.heap).slots();
  const Definitions& definitions = map.moment->stream(map.heap).definitions();
  EXPECT_EQ("history[3]", name_of_block(labels, definitions, slots[map.spans.find(0x1000000)->slot]));
  EXPECT_EQ("forward  train.py:10",
            name_of_block(labels, definitions, slots[map.spans.find(0x1000000 + 10 * mib)->slot]));
  give(command::set_filter, names.action(0).text);
  ASSERT_EQ(1U, answers().blocks.value->list.rows.size()) << names.action(0).text;
  EXPECT_EQ(0x1000000U, answers().blocks.value->facts(answers().blocks.value->list.rows[0]).block.address);
}

TEST_F(BlocksTest, inspector_says_the_last_that_was_said_of_a_block) {
  test::SmallTrace trace;
  trace.region(0x1000000, 100 * mib);           // Event 0.
  trace.alloc(0x1000000, 10 * mib, "forward");  // 1
  for (const char* array : {"f32[8] from the host", "f32[8] output 1 of step", "f32[8] output 2 of step"})
    trace.say_of(1, "array", array);
  trace.say_of(1, "path", "layers/0");
  const std::string path = (home_ / "said.hbm").string();
  trace.write(path);
  give(Command(command::open_paths, {path}));
  give(CommandId::go_to_end);
  give(command::select_address, PlaceToSelect{0x1000000, {}, HeapKey{0, 1}});
  const SpanDetail said = detail();
  EXPECT_EQ("f32[8] output 2 of step", value(said, "What", "array"));
  EXPECT_EQ("layers/0", value(said, "What", "path"));
  const auto& lines = said.sections[0].lines;
  EXPECT_EQ(1, std::count_if(lines.begin(), lines.end(), [](const DetailLine& line) { return line.name == "array"; }));
}

TEST_F(BlocksTest, inspector_says_since_when_a_gap_is_free_and_what_bounds_it) {
  give(CommandId::go_to_largest_free);
  const SpanDetail gap = detail();
  EXPECT_EQ("Free", gap.title);
  EXPECT_EQ("38.0 MiB", value(gap, "Size", "size"));
  EXPECT_EQ("8 µs, event 8", value(gap, "When", "free since"));
  EXPECT_EQ("backward  train.py:10, 10.0 MiB", value(gap, "When", "previously"));
  EXPECT_EQ("2.00 MiB  step  train.py:10", value(gap, "Neighbours", "before"));
  EXPECT_EQ("30.0 MiB  forward  train.py:10", value(gap, "Neighbours", "after"));
  const std::string copied = text_from_table(table_from_span(gap, answers().address.value.get()));
  EXPECT_NE(std::string::npos, copied.find("39,845,888 B")) << copied;
}

TEST_F(BlocksTest, blocks_of_a_cell_are_listed_largest_first_and_a_frame_leaves_the_block) {
  give(command::select_address, PlaceToSelect{0x1000000, {}, {}, AddressRange{0x1000000, 0x4000000}});
  ASSERT_TRUE(position().cell);
  const auto blocks = blocks_in(answers().heap_map.value->spans, *position().cell);
  ASSERT_EQ(2U, blocks.size());
  EXPECT_EQ(30 * mib, blocks[0]->size);
  give(command::select_function, std::string("forward"));
  EXPECT_FALSE(position().address);
  EXPECT_FALSE(position().cell);
}

}  // namespace
}  // namespace hbmscope::gui
