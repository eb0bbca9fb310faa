// The sentence, the figures and the buttons above all views.
#include "app/gui/core/answer_bar.h"

#include <chrono>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "analysis/document/text.h"
#include "analysis/query/job_facts.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/app.h"
#include "app/gui/core/source_facts.h"
#include "tests/gui_core/small_trace.h"
#include "tests/gui_core/test_home.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

class AnswerBarTest : public testing::Test {
 protected:
  AnswerBarTest() {
    app_ = std::make_unique<App>([] {});
  }

  void open(test::SmallTrace& trace) {
    const std::string path = (home_ / "small.hbm").string();
    trace.write(path);
    give(Command(command::open_paths, {path}));
  }
  void give(Command command) {
    app_->commands().push(std::move(command));
    settle();
  }
  void settle() {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    do {
      app_->commands().ask(Question::headline);
      app_->update();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (app_->busy() && std::chrono::steady_clock::now() < give_up);
    app_->update();
    ASSERT_FALSE(app_->busy());
  }
  AnswerBar bar() const { return find_answer_bar(app_->state()); }
  static std::vector<std::string> words_of(const std::vector<AnswerChip>& chips) {
    std::vector<std::string> words;
    for (const AnswerChip& chip : chips) words.push_back(chip.words);
    return words;
  }

  test::TestHome home_;
  std::unique_ptr<App> app_;
};

// 100 MiB, of which 60 are held by forward in two pieces; 50 MiB does not fit.
void fill(test::SmallTrace& trace) {
  trace.region(0x1000000, 100 * mib);
  trace.alloc(0x1000000, 30 * mib, "forward");
  trace.alloc(0x1000000 + 50 * mib, 30 * mib, "forward");
}

TEST_F(AnswerBarTest, of_a_dry_run_it_begins_with_its_verdict) {
  test::SmallTrace trace;
  trace.fact(dry_run_outcome_fact, "out of memory");
  trace.fact(dry_run_verdict_fact, "out of memory: no room for 30.0 MiB (forward, train.py:10)\nAssumed: ...\n");
  fill(trace);
  trace.run_out_of_memory(30 * mib);
  open(trace);
  EXPECT_TRUE(bar().sentence.starts_with(
      "Dry run: out of memory: no room for 30.0 MiB (forward, train.py:10). Fragmented: requested 30.0 MiB"))
      << bar().sentence;
  app_->commands().ask(Question::failure);
  settle();
  const auto& failure = app_->state().answers().failure.value;
  ASSERT_NE(nullptr, failure);
  EXPECT_TRUE(text_from_document(*failure->document).find("Dry run: out of memory: no room") != std::string::npos)
      << text_from_document(*failure->document);
}

TEST_F(AnswerBarTest, of_a_dry_run_on_several_gpus_it_names_the_one_that_the_figures_are_of) {
  test::SmallTrace trace;
  trace.fact(dry_run_outcome_fact, "fits");
  trace.fact(dry_run_verdict_fact,
             "fits: peak 6.55 GiB of 79.1 GiB, 72.6 GiB to spare\nThese are the figures of GPU 5, the fullest of 8.\n");
  fill(trace);
  open(trace);
  EXPECT_EQ("Dry run (GPU 5, the fullest of 8): fits: peak 6.55 GiB of 79.1 GiB, 72.6 GiB to spare. No failures.",
            bar().sentence);
}

TEST_F(AnswerBarTest, of_a_failure_it_is_the_cause_with_its_figures_and_what_to_do) {
  test::SmallTrace trace;
  fill(trace);
  trace.run_out_of_memory(30 * mib);
  open(trace);
  EXPECT_TRUE(bar().is_failure);
  EXPECT_TRUE(bar().title.starts_with("Out of memory on ")) << bar().title;
  EXPECT_TRUE(bar().sentence.starts_with("Fragmented: requested 30.0 MiB")) << bar().sentence;
  EXPECT_EQ((std::vector<std::string>{"requested 30.0 MiB", "free 40.0 MiB", "largest free block 20.0 MiB",
                                      "top: forward train.py:10 60.0 MiB (100 %)"}),
            words_of(bar().chips));
  EXPECT_EQ((std::vector<std::string>{"What would help", "Show fragmentation"}), words_of(bar().buttons))
      << "it is open at the failure";
  EXPECT_TRUE(bar().chips[2].command) << "the block can be selected, since its time is shown";
  give(Command(command::set_moment, "start"));
  EXPECT_EQ("Go to failure", bar().buttons.front().words);
  EXPECT_FALSE(bar().chips[2].command) << "another time is shown";
  give(*bar().buttons.front().command);
  EXPECT_EQ("What would help", bar().buttons.front().words);
}

TEST_F(AnswerBarTest, what_is_missing_is_what_the_rounded_request_would_have_taken) {
  test::SmallTrace trace;
  trace.add_heap("GPU 0 PyTorch pool");
  trace.region(0x1000000, 100 * mib);
  trace.alloc(0x1000000, 50 * mib, "forward");
  trace.run_out_of_memory(50 * mib + 100);
  open(trace);
  EXPECT_EQ("requested 50.0 MiB", bar().chips[0].words);
  EXPECT_EQ("free 50.0 MiB, 512 B too little", bar().chips[1].words) << "PyTorch rounds to 512 bytes";
}

TEST_F(AnswerBarTest, without_a_failure_it_is_the_peak) {
  test::SmallTrace trace;
  fill(trace);
  trace.free(0x1000000);
  open(trace);
  EXPECT_FALSE(bar().is_failure);
  EXPECT_TRUE(bar().title.starts_with("Peak 60.0 MiB of 100 MiB on ")) << bar().title;
  EXPECT_EQ("No failures.", bar().sentence);
  EXPECT_EQ("top: forward train.py:10 60.0 MiB (100 %)", bar().chips.front().words);
}

TEST_F(AnswerBarTest, no_failure_is_said_only_where_one_could_be_seen) {
  test::SmallTrace listed;
  listed.list(0x1000000, 100 * mib, {{0x1000000, 0x1000000 + 30 * mib}});
  open(listed);
  EXPECT_EQ("The file has no events, so a failure could not be seen.", bar().sentence);
}

TEST_F(AnswerBarTest, a_recording_that_was_cut_off_says_so_instead_of_no_failure) {
  test::SmallTrace trace;
  fill(trace);
  const std::string path = (home_ / "cut.hbm").string();
  trace.write(path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8);
  give(Command(command::open_paths, {path}));
  EXPECT_EQ("The recording is incomplete: what came after its end is unknown.", bar().sentence);
}

TEST_F(AnswerBarTest, of_a_leak_it_names_the_variable_and_leads_to_the_steps) {
  test::SmallTrace trace;
  trace.region(0x1000000, 100 * mib);
  for (std::uint64_t step = 0; step < 12; ++step) {
    trace.mark("step");
    const std::uint64_t event = trace.trace().streams[0].end_position();
    trace.alloc(0x1000000 + step * mib, mib, "keep");
    trace.say_of(event, "name", "history[" + std::to_string(step) + "]");
    trace.say_of(event, "held by", "global of train.py");
  }
  open(trace);
  ASSERT_FALSE(bar().links.empty()) << bar().sentence;
  const AnswerChip leak = bar().links.front();
  EXPECT_EQ("Leaks 1.00 MiB a step in history (train.py:10).", leak.words);
  ASSERT_EQ("grows 1.00 MiB a step: keep train.py:10", bar().chips.front().words);
  EXPECT_EQ("held by history[*] 12.0 MiB (100 %)", bar().chips[1].words);
  push(bar().chips.front(), app_->commands());
  settle();
  EXPECT_EQ(ViewKind::range, app_->state().position().view) << "the chip leads to the steps, too";
  push(leak, app_->commands());
  settle();
  const ViewPosition& position = app_->state().position();
  EXPECT_EQ(ViewKind::range, position.view);
  EXPECT_FALSE(position.range.empty());
  EXPECT_EQ("keep", position.selection.function);
  EXPECT_EQ(10, position.selection.line);
}

TEST_F(AnswerBarTest, of_a_failure_that_replays_it_has_the_settings_that_fit) {
  give(Command(command::open_paths, {HBMSCOPE_SAMPLES "/fragments.hbm"}));
  EXPECT_TRUE(bar().links.empty()) << "nothing is replayed until it is asked for";
  ask_for_answer_bar(app_->state(), app_->commands());
  settle();
  ASSERT_FALSE(bar().links.empty());
  const AnswerChip fraction = bar().links.front();
  EXPECT_TRUE(fraction.words.starts_with("XLA_PYTHON_CLIENT_MEM_FRACTION=0.")) << fraction.words;
  EXPECT_TRUE(fraction.words.ends_with(" fits, replayed")) << fraction.words;
  push(fraction, app_->commands());
  settle();
  EXPECT_EQ(fraction.words, app_->state().window.clipboard + " fits, replayed");
}

TEST_F(AnswerBarTest, of_a_series_of_profiles_it_says_what_grew) {
  std::vector<std::string> paths;
  for (const char* step : {"010", "050", "200"})
    paths.push_back(std::string(HBMSCOPE_SAMPLES "/leak_step_") + step + ".pprof.gz");
  give(Command(command::open_paths, paths));
  ask_for_answer_bar(app_->state(), app_->commands());
  settle();
  EXPECT_EQ("3 profiles: +95.0 MiB, remember_activations train.py:77, 512 KiB a step", bar().title);
}

TEST_F(AnswerBarTest, a_failure_of_another_heap_is_what_it_speaks_of) {
  test::SmallTrace trace;
  fill(trace);
  trace.run_out_of_memory(30 * mib);
  trace.add_heap("GPU 1");
  trace.region(0x90000000, 10 * mib);
  trace.alloc(0x90000000, 4 * mib, "forward");
  open(trace);
  give(Command(command::choose_heap, HeapKey{0, 2}));
  EXPECT_TRUE(bar().is_failure);
  EXPECT_EQ("Go to failure", bar().buttons.front().words);
  give(*bar().buttons.front().command);
  EXPECT_EQ((HeapKey{0, 1}), app_->state().position().heap);
}

TEST_F(AnswerBarTest, what_has_neither_blocks_nor_times_has_no_pictures) {
  test::SmallTrace trace;
  fill(trace);
  open(trace);
  EXPECT_EQ("", why_no_blocks(app_->state()));
  EXPECT_EQ("", why_no_history(app_->state()));
  EXPECT_EQ(std::nullopt, shown_log_line(app_->state()));
  const std::string text = (home_ / "error.txt").string();
  FILE* file = std::fopen(text.c_str(), "w");
  std::fputs("RuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 32212254720 bytes.\n", file);
  std::fclose(file);
  give(Command(command::open_paths, {text}));
  EXPECT_NE("", why_no_blocks(app_->state()));
  EXPECT_NE("", why_no_history(app_->state()));
  EXPECT_TRUE(bar().is_failure);
  EXPECT_EQ(1U, shown_log_line(app_->state()));
}

}  // namespace
}  // namespace hbmscope::gui
