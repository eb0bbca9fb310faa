// What the views say of one thing at one time is the same figure, whichever of them one looks at.
#include <chrono>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "analysis/units/format.h"
#include "app/gui/core/answer_bar.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/app.h"
#include "app/gui/core/span_text.h"
#include "app/gui/views/device_cards/device_cards.h"
#include "tests/gui_core/small_trace.h"
#include "tests/gui_core/test_home.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

constexpr std::uint64_t first_device = 0x100000000, second_device = 0x900000000;

class Consistency : public testing::Test {
 protected:
  Consistency() {
    app_ = std::make_unique<App>([] {});
    test::SmallTrace trace;
    fill(trace);
    const std::string path = (home_ / "two.hbm").string();
    trace.write(path);
    give(Command(command::open_paths, {path}));
  }

  // Two devices with fifty places of 4 MiB each, allocated and freed at random by four functions; a failure on the
  // first.
  static void fill(test::SmallTrace& trace) {
    std::mt19937 random(5);
    trace.region(first_device, 200 * mib);
    trace.add_heap("GPU 1");
    trace.region(second_device, 200 * mib);
    std::vector<bool> is_live(100, false);
    for (int i = 0; i < 600; ++i) {
      const std::uint64_t place = random() % 100;
      trace.heap_of(place < 50 ? 1 : 2);
      const std::uint64_t address = (place < 50 ? first_device : second_device) + place % 50 * 4 * mib;
      if (is_live[place])
        trace.free(address);
      else
        trace.alloc(address, 256 * (1 + random() % 16'000), std::string(1, static_cast<char>('a' + random() % 4)));
      is_live[place] = !is_live[place];
      if (i == 400) {
        trace.heap_of(1);
        trace.run_out_of_memory(150 * mib);
      }
    }
  }

  void give(Command command) {
    app_->commands().push(std::move(command));
    settle();
  }
  void settle() {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    do {
      for (const Question question :
           {Question::headline, Question::heap_map, Question::timeline, Question::blocks, Question::summary,
            Question::top, Question::flame, Question::free, Question::sizes})
        app_->commands().ask(question);
      app_->update();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (app_->busy() && std::chrono::steady_clock::now() < give_up);
    app_->update();
    ASSERT_FALSE(app_->busy());
  }
  const AppState& state() const { return app_->state(); }
  const Answers& answers() const { return state().answers(); }

  // Of the shown heap.
  void expect_one_heap() const {
    const HeapMapAnswer& map = *answers().heap_map.value;
    const HeapState& heap = map.moment->heap(map.heap);
    std::uint64_t drawn = 0, legend = 0;
    for (const HeapSpan& span : map.spans.spans) drawn += span.kind == SpanKind::block ? span.size : 0;
    for (const ShadeEntry& entry : map.spans.legend) legend += entry.bytes;
    EXPECT_EQ(heap.in_use_bytes, drawn) << "heap map";
    EXPECT_EQ(heap.in_use_bytes, legend) << "its legend";
    const TimelineColumns& timeline = *answers().timeline.value;
    EXPECT_EQ(map.heap, timeline.heap);
    const double share = timeline.share_of(map.moment->position(map.heap), map.moment->state_of(map.heap).time_ns());
    const TimelineColumn& column = timeline.columns[TimelineColumns::column_of(share, timeline.columns.size())];
    EXPECT_LE(column.in_use.least, heap.in_use_bytes) << "timeline";
    EXPECT_GE(column.in_use.most, heap.in_use_bytes) << "timeline";
    const TimelineSpan whole = timeline.whole;
    const auto bands = answers().stack.value->columns(whole, timeline.columns.size());
    for (std::size_t i = 0; i < bands.size(); ++i)
      ASSERT_EQ(timeline.columns[i].in_use.most, bands[i].total) << "bands of column " << i;
    const std::uint64_t largest = *heap.space.largest_free();
    EXPECT_EQ(largest, map.spans.spans[*map.spans.largest_free].size) << "heap map, largest free block";
    EXPECT_EQ(largest, answers().free.value->free->largest_bytes()) << "Fragmentation";
    EXPECT_EQ(*heap.space.free_bytes(), answers().free.value->free->bytes) << "Fragmentation";
    EXPECT_EQ(largest, *answers().sizes.value->metrics.fit.bytes) << "Sizes";
  }

  // Of the shown device, or of all of them.
  void expect_one_scope() const {
    const auto& moment = *answers().moment.value;
    std::uint64_t in_use = 0;
    for (const DeviceCard& card : find_device_cards(state().source()->devices, moment)) {
      const auto& heaps = state().source()->devices[card.device].heaps;
      const bool is_shown = std::any_of(heaps.begin(), heaps.end(), [&](const DeviceHeap& heap) {
        return heap.key == choose_heap(*moment.trace, state().position().heap);
      });
      if (is_shown || state().position().all_devices) in_use += card.in_use_bytes;
    }
    const ProfileView& view = *answers().view.value;
    EXPECT_EQ(in_use, static_cast<std::uint64_t>(view.total.bytes)) << "stacks against the cards";
    EXPECT_EQ(in_use, answers().blocks.value->list.all_bytes) << "Blocks against the cards";
    EXPECT_EQ(static_cast<std::uint64_t>(view.selected.bytes), answers().blocks.value->list.bytes) << "the filter";
    EXPECT_EQ(static_cast<std::size_t>(view.selected.count), answers().blocks.value->list.rows.size());
    std::int64_t code = 0, flat = 0;
    for (const UserCodeRow& row : answers().summary.value->user_code) code += row.weight.bytes;
    for (const TopRow& row : *answers().top.value->rows) flat += row.flat.bytes;
    EXPECT_EQ(view.selected.bytes, code) << "Top, your code";
    EXPECT_EQ(view.selected.bytes, flat) << "Top, all frames";
    EXPECT_EQ(view.selected.bytes, answers().flame.value->tree.nodes.front().cum.bytes) << "flame graph";
    EXPECT_EQ(view.selected.bytes, answers().summary.value->summary.total.bytes) << "Summary";
  }

  test::TestHome home_;
  std::unique_ptr<App> app_;
};

TEST_F(Consistency, all_views_say_the_same_of_a_time_a_device_and_a_filter) {
  for (const char* const at : {"oom", "peak", "#100", "#350", "end"})
    for (const std::uint32_t heap : {1U, 2U})
      for (const char* const filter : {"", "size>1MiB", "function=a age>100us"})
        for (const bool all : {false, true}) {
          SCOPED_TRACE(std::string(at) + ", heap " + std::to_string(heap) + ", \"" + filter + "\"" +
                       (all ? ", all" : ""));
          give(Command(command::set_moment, at));
          give(Command(command::choose_heap, HeapKey{0, heap}));
          give(Command(command::set_filter, filter));
          if (all) give(CommandId::toggle_all_devices);
          expect_one_heap();
          expect_one_scope();
          if (HasFatalFailure()) return;
        }
}

// Two ranks whose clocks show other figures, the second of which began later: one moment has one time in both.
TEST_F(Consistency, ranks_have_one_clock) {
  constexpr std::int64_t day = 1'795'267'211'000'000'000, later = 2'000'000;
  std::vector<std::string> paths;
  for (const bool is_second : {false, true}) {
    test::SmallTrace trace;
    trace.fact("rank", is_second ? "1" : "0");
    trace.fact("pid", is_second ? "11" : "10");
    trace.tell_time(day + (is_second ? later : 0));
    trace.region(first_device, 200 * mib);
    for (std::uint64_t i = 0; i < 40; ++i) trace.alloc(first_device + i * 4 * mib, (is_second ? 4 : 2) * mib, "a");
    paths.push_back((home_ / (is_second ? "b.hbm" : "a.hbm")).string());
    trace.write(paths.back());
  }
  give(Command(command::open_as_one_job, paths));
  ASSERT_EQ(2U, state().source()->trace->streams.size());
  give(Command(command::set_moment, "peak"));
  const auto peak = drawn_moment(state());
  ASSERT_EQ(1U, peak->moment.stream) << "of the second rank, which is the larger one";
  EXPECT_GE(peak->moment.since_start_ns, later);
  std::string times[2];
  for (const std::uint32_t rank : {1U, 0U}) {
    give(Command(command::choose_heap, HeapKey{rank, 1}));
    expect_one_heap();
    const auto moment = drawn_moment(state());
    EXPECT_EQ(peak->moment.since_start_ns, moment->stream({rank, 1}).since_start_ns(moment->time_ns({rank, 1})));
    times[rank] = phrase_of(*moment, {rank, 1});
  }
  const std::string time = text_from_moment_ns(*peak->moment.since_start_ns);
  EXPECT_TRUE(times[1].starts_with("at the peak (" + time + ", event ")) << times[1];
  EXPECT_TRUE(times[0].starts_with("at " + time + " (event ")) << "it is not the peak of this rank: " << times[0];
}

// Zoomed in, a jump moves the span and not the cursor out of it; panning by hand is left alone.
TEST_F(Consistency, the_cursor_is_in_view_after_every_jump) {
  const TimelineSpan whole = answers().timeline.value->whole;
  const TimelineSpan zoomed{0, whole.length() / 20};
  give(Command(command::set_moment, "#1"));
  give(Command(command::show_span, zoomed));
  const auto is_in_view = [&] {
    const auto moment = drawn_moment(state());
    const HeapKey heap = choose_heap(*moment->trace, state().position().heap);
    const std::int64_t at = moment->stream(heap).since_start_ns(moment->time_ns(heap));
    const TimelineSpan span = state().position().span;
    return span.length() == zoomed.length() && span.begin <= at && at <= span.end;
  };
  for (const CommandId jump : {CommandId::go_to_peak, CommandId::next_failure, CommandId::go_to_end}) {
    give(Command(command::set_moment, "start"));
    EXPECT_TRUE(is_in_view());
    give(jump);
    EXPECT_TRUE(is_in_view()) << info_of(jump).title;
  }
  give(Command(command::show_span, zoomed));
  EXPECT_EQ(zoomed, state().position().span) << "panned by hand, with the cursor outside";
}

TEST_F(Consistency, the_answer_bar_has_the_figures_of_the_failure) {
  const AnswerBar bar = find_answer_bar(state());
  ASSERT_TRUE(bar.is_failure);
  const HeapMapAnswer& map = *answers().heap_map.value;
  const HeapState& heap = map.moment->heap(map.heap);
  const auto has = [&](const std::string& words) {
    return std::any_of(bar.chips.begin(), bar.chips.end(), [&](const AnswerChip& chip) { return chip.words == words; });
  };
  EXPECT_TRUE(has("free " + text_from_bytes(*heap.space.free_bytes())));
  EXPECT_TRUE(has("largest free block " + text_from_bytes(*heap.space.largest_free())));
  const UserCodeRow& top = answers().summary.value->user_code.front();
  EXPECT_TRUE(std::any_of(bar.chips.begin(), bar.chips.end(), [&](const AnswerChip& chip) {
    return chip.words.starts_with("top: " + top.frame.function + " train.py:10 " + text_from_bytes(top.weight.bytes));
  })) << top.frame.function;
}

}  // namespace
}  // namespace hbmscope::gui
