// Two sides: the side that each command refers to, locked settings, and the state after closing.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "analysis/document/text.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/app.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/trace_steps.h"
#include "tests/gui_core/small_trace.h"
#include "tests/gui_core/test_home.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

class SideBySide : public testing::Test {
 protected:
  SideBySide() {
    // The same program with a preallocated pool, and with one that grows for each block.
    test::SmallTrace pool, growing;
    pool.region(0, 100 * mib);
    for (std::uint64_t i = 0; i < 4; ++i) {
      pool.alloc(i * 20 * mib, 10 * mib, "step");
      growing.region(i * 10 * mib, 10 * mib);
      growing.alloc(i * 10 * mib, 10 * mib, "step");
    }
    pool.free(0);
    growing.free(0);
    pool.run_out_of_memory(50 * mib);
    growing.alloc(0, 5 * mib, "step");
    pool.write(path("pool.hbm"));
    growing.write(path("growing.hbm"));
    app_ = std::make_unique<App>([] {});
  }

  std::string path(const std::string& name) const { return (home_ / name).string(); }
  template <class... Args>
  void give(Args&&... args) {
    app_->commands().push(std::forward<Args>(args)...);
    settle();
  }
  template <class... Args>
  void give_to(std::size_t side, Args&&... args) {
    app_->commands().bind(side);
    app_->commands().push(std::forward<Args>(args)...);
    app_->commands().unbind();
    settle();
  }
  void settle() {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    do {
      app_->update();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ask();
      app_->update();
    } while (app_->busy() && std::chrono::steady_clock::now() < give_up);
    ASSERT_FALSE(app_->busy());
  }
  void ask() {
    app_->commands().begin_frame(state().active_context);
    for (std::size_t side = 0; side < state().contexts.size(); ++side) {
      app_->commands().bind(side);
      app_->commands().ask(Question::heap_map);
      app_->commands().ask(Question::timeline);
      app_->commands().unbind();
    }
    app_->commands().ask(Question::side_by_side);
  }
  void open_both() {
    give(Command(command::open_paths, {path("pool.hbm")}));
    give(command::open_side_by_side, FileWithChanges{path("growing.hbm"), {}});
    ASSERT_TRUE(state().is_split());
  }

  const AppState& state() const { return app_->state(); }
  const Context& side(std::size_t side) const { return state().contexts[side]; }
  std::string name_of(std::size_t of) const { return state().find_source(side(of).position.source)->name(); }
  std::uint64_t position(std::size_t of) const { return side(of).answers.moment.value->moment.positions[0]; }
  std::uint64_t in_use(std::size_t of) const { return side(of).answers.moment.value->states[0].in_use_bytes(1); }

  test::TestHome home_;
  std::unique_ptr<App> app_;
};

TEST_F(SideBySide, each_side_has_its_file_its_moment_and_its_answers) {
  open_both();
  EXPECT_EQ("pool.hbm", name_of(0));
  EXPECT_EQ("growing.hbm", name_of(1));
  EXPECT_EQ("oom", side(0).position.at);
  EXPECT_EQ("peak", side(1).position.at) << "it never failed";
  EXPECT_EQ(SameMoment::time, state().lock);
  ASSERT_NE(nullptr, side(0).answers.heap_map.value);
  ASSERT_NE(nullptr, side(1).answers.heap_map.value);
  EXPECT_NE(side(0).answers.heap_map.value->moment->trace, side(1).answers.heap_map.value->moment->trace);
  give(CommandId::go_to_peak);
  EXPECT_EQ("peak", side(1).position.at) << "at its own";
  give(CommandId::lock_nothing);
  const MomentName before = side(0).position.at;
  give_to(1, command::set_moment, "#2");
  EXPECT_EQ(2U, position(1));
  EXPECT_EQ(before, side(0).position.at) << "not locked";
}

TEST_F(SideBySide, a_line_that_changed_has_a_filter_that_finds_its_blocks) {
  open_both();
  give(CommandId::lock_nothing);
  give_to(1, command::set_moment, "#2");
  const auto answer = state().contexts[0].answers.side_by_side.value;
  ASSERT_NE(nullptr, answer);
  const std::string words = text_from_document(*answer->words);
  EXPECT_NE(std::string::npos, words.find("What changed, by line")) << words;
  for (const HeldOnSides& line : answer->lines) {
    if (line.where.empty() || line.a == 0) continue;
    give_to(0, command::set_filter, line.where);
    ASSERT_NE(nullptr, side(0).answers.view.value);
    EXPECT_EQ(static_cast<std::int64_t>(line.a), side(0).answers.view.value->selected.bytes) << line.where;
  }
}

TEST_F(SideBySide, a_command_of_a_side_makes_it_the_active_one_and_others_are_about_that) {
  open_both();
  give(CommandId::lock_nothing);
  EXPECT_EQ(0U, state().active_context);
  give_to(1, command::select_address, PlaceToSelect{0xa00000});
  EXPECT_EQ(1U, state().active_context);
  EXPECT_EQ(std::nullopt, side(0).position.address);
  EXPECT_EQ(10 * mib, side(1).position.address);
  give(CommandId::go_to_end);
  EXPECT_EQ("end", side(1).position.at);
  EXPECT_EQ("oom", side(0).position.at);
  give(CommandId::other_side);
  EXPECT_EQ(0U, state().active_context);
  // Views report their sizes in every frame; that is not a choice of the user.
  give_to(1, command::size_timeline, PixelSize{640, 0});
  EXPECT_EQ(0U, state().active_context);
  EXPECT_EQ(640U, side(1).timeline_width);
}

TEST_F(SideBySide, locked_by_requests_the_other_side_goes_to_the_same_point_of_the_program) {
  open_both();
  give(CommandId::lock_requests);
  EXPECT_EQ(in_use(0), in_use(1));
  give_to(0, command::set_moment, "#3");
  EXPECT_EQ(3U, position(0));
  EXPECT_EQ(4U, position(1)) << "two regions and two blocks";
  give_to(1, command::set_moment, "#6");
  EXPECT_EQ(6U, position(1));
  EXPECT_EQ(4U, position(0)) << "it leads that is used";
  // Only to look at the other side moves nothing.
  give_to(0, CommandId::activate_side);
  EXPECT_EQ(4U, position(0));
  EXPECT_EQ(6U, position(1));
  give(CommandId::go_to_end);
  EXPECT_EQ(7U, position(0));
  EXPECT_EQ(10U, position(1)) << "five requests in both";
  give(CommandId::lock_nothing);
  give_to(0, command::set_moment, "#3");
  EXPECT_EQ(10U, position(1));
}

TEST_F(SideBySide, locked_by_requests_the_other_sides_course_is_at_the_same_requests) {
  open_both();
  give_to(0, command::size_timeline, PixelSize{700, 200});
  give(CommandId::lock_requests);
  give_to(0, command::set_moment, "#3");
  const auto& own = side(0).answers.timeline_part.value;
  const auto& other = side(0).answers.overlay.value;
  ASSERT_TRUE(own && other);
  ASSERT_TRUE(find_overlay(state()) && find_overlay(state())->is_by_requests);
  ASSERT_EQ(own->columns.size(), other->columns.size());
  const Trace &pool = *state().find_source(side(0).position.source)->trace,
              &growing = *state().find_source(side(1).position.source)->trace;
  for (std::size_t i = 0; i < own->columns.size(); ++i) {
    const auto same =
        find_matching_moment(pool, {0, 1}, own->columns[i].position, growing, {0, 1}, SameMoment::requests);
    const std::uint64_t in_use = growing.streams[0].state_at(same->position).in_use_bytes(1);
    EXPECT_LE(other->columns[i].in_use.least, in_use) << i;
    EXPECT_GE(other->columns[i].in_use.most, in_use) << i;
  }
  give(CommandId::lock_time);
  EXPECT_FALSE(find_overlay(state())->is_by_requests);
}

TEST_F(SideBySide, differences_are_those_of_the_times_that_are_shown) {
  open_both();
  give(CommandId::lock_requests);
  ASSERT_EQ(AnswerState::ready, side(0).answers.side_by_side.state);
  const HeapComparison heaps = side(0).answers.side_by_side.value->heaps;
  ASSERT_FALSE(heaps.sentences.empty());
  EXPECT_TRUE(heaps.sentences.front().starts_with("A fails at the next request. Fragmented: requested 50.0 MiB"));
  EXPECT_EQ(4, heaps.rows[0].a);
  EXPECT_EQ(4, heaps.rows[0].b) << "the moment that B was led to, not the one before";
  give_to(0, command::set_moment, "#3");
  EXPECT_EQ(2, side(0).answers.side_by_side.value->heaps.rows[0].a);
  EXPECT_EQ(2, side(0).answers.side_by_side.value->heaps.rows[0].b);
}

TEST_F(SideBySide, one_file_twice_is_two_moments_of_it) {
  give(Command(command::open_paths, {path("pool.hbm")}));
  give(CommandId::split);
  ASSERT_TRUE(state().is_split());
  EXPECT_EQ(side(0).position.source, side(1).position.source);
  give_to(1, command::set_moment, "#2");
  EXPECT_EQ(2U, position(1));
  EXPECT_EQ(6U, position(0));
  give(CommandId::split);
  EXPECT_FALSE(state().is_split()) << "once more: the active side alone";
  EXPECT_EQ(2U, position(0));
}

TEST_F(SideBySide, swapped_sides_keep_what_they_show_and_closing_a_file_closes_its_side) {
  open_both();
  give_to(1, command::set_moment, "#2");
  give(CommandId::swap_sides);
  EXPECT_EQ("growing.hbm", name_of(0));
  EXPECT_EQ(2U, position(0));
  EXPECT_EQ(0U, state().active_context) << "it went along";
  give(command::close_source, side(1).position.source);
  EXPECT_FALSE(state().is_split());
  EXPECT_EQ("growing.hbm", name_of(0));
  give(CommandId::close_file);
  EXPECT_TRUE(state().sources.empty());
}

TEST_F(SideBySide, closing_a_side_while_it_works_loses_nothing_of_the_other) {
  open_both();
  for (int i = 0; i < 20; ++i) {
    app_->commands().bind(1);
    app_->commands().push(command::set_moment, "#" + std::to_string(1 + i % 5));
    app_->commands().push(CommandId::close_this_side);
    app_->commands().unbind();
    app_->update();
    give(command::open_side_by_side, FileWithChanges{path("growing.hbm"), {}});
  }
  ASSERT_TRUE(state().is_split());
  EXPECT_EQ("pool.hbm", name_of(0));
  EXPECT_EQ(AnswerState::ready, side(0).answers.heap_map.state);
  EXPECT_EQ(AnswerState::ready, side(1).answers.heap_map.state);
}

TEST_F(SideBySide, another_file_in_a_side_has_no_words_of_the_one_before) {
  open_both();
  give(CommandId::lock_requests);
  ASSERT_NE(nullptr, side(0).answers.side_by_side.value);
  give(CommandId::split);
  EXPECT_FALSE(state().is_split());
  EXPECT_EQ(nullptr, side(0).answers.side_by_side.value) << "nothing of a closed side is kept";
  give(CommandId::split);
  give(CommandId::lock_requests);
  EXPECT_EQ(9U, position(1));
}

TEST_F(SideBySide, a_heap_is_chosen_by_its_name_and_an_unknown_name_is_reported) {
  give(command::choose_heap_named, std::string("GPU 7"));
  give(Command(command::open_paths, {path("pool.hbm")}));
  EXPECT_EQ("there is no heap 'GPU 7'. There are: GPU 0.", state().window.notice);
  give_to(0, command::size_timeline, PixelSize{640, 0});
  EXPECT_FALSE(state().window.notice.empty()) << "what a view tells of itself does not take it away";
  give(command::choose_heap_named, std::string("GPU 0"));
  EXPECT_EQ((HeapKey{0, 1}), side(0).position.heap);
}

TEST_F(SideBySide, is_a_command_line) {
  open_both();
  give(CommandId::lock_requests);
  EXPECT_EQ("hbmscope open " + path("pool.hbm") + " --compare-with " + path("growing.hbm") +
                " --compare-at '#9' --lock requests --view heap-map --at oom",
            open_command(state()));
  give(CommandId::other_side);
  EXPECT_NE(std::string::npos, open_command(state()).find("pool.hbm --compare-with")) << "A stays the first one";
  give_to(1, command::set_pin, "#3");
  EXPECT_NE(std::string::npos, open_command(state()).find(" --compare-pin '#3' ")) << open_command(state());
  EXPECT_EQ(std::string::npos, open_command(state()).find(" --pin ")) << "A has none";
}

TEST_F(SideBySide, both_on_automatic_are_coloured_by_one_rule) {
  test::SmallTrace plain;  // Without stacks: when shown alone it is coloured by size.
  plain.region(0, 100 * mib);
  plain.alloc(0, 10 * mib);
  plain.write(path("plain.hbm"));
  give(Command(command::open_paths, {path("pool.hbm")}));
  const auto coloring = [&](std::size_t i) { return side(i).answers.heap_map.value->spans.coloring; };
  EXPECT_EQ(HeapColoring::user_code, coloring(0));
  give(command::open_side_by_side, FileWithChanges{path("plain.hbm"), {}});
  settle();
  ASSERT_TRUE(state().is_split());
  EXPECT_EQ(HeapColoring::size, coloring(1));
  EXPECT_EQ(HeapColoring::size, coloring(0)) << "what both can be told apart by";
  give_to(1, command::set_coloring, HeapColoring::state);
  settle();
  EXPECT_EQ(HeapColoring::user_code, coloring(0)) << "chosen by hand there, so this one is free again";
}

TEST_F(SideBySide, needs_two_sides_and_says_so) {
  give(Command(command::open_paths, {path("pool.hbm")}));
  for (const CommandId id :
       {CommandId::other_side, CommandId::swap_sides, CommandId::lock_time, CommandId::show_side_by_side})
    EXPECT_EQ("Only one side is shown (Ctrl+B).", why_not(state(), id));
  EXPECT_FALSE(view_exists(state(), ViewKind::side_by_side));
}

}  // namespace
}  // namespace hbmscope::gui
