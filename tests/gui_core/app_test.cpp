#include "app/gui/core/app.h"

#include "app/gui/core/answers.h"
#include "app/gui/core/missing_view.h"
#include "tests/gui_core/test_home.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

namespace hbmscope::gui {
namespace {

namespace fs = std::filesystem;

const std::string leak_10 = HBMSCOPE_SAMPLES "/leak_step_010.pprof.gz";
const std::string leak_200 = HBMSCOPE_SAMPLES "/leak_step_200.pprof.gz";

// An App with its own settings and recent files, driven like the platform drives it.
class AppTest : public testing::Test {
 protected:
  AppTest() {
    app_ = std::make_unique<App>([this] { ++wakes_; });
  }

  const AppState& state() const { return app_->state(); }
  const ViewPosition& position() const { return app_->state().position(); }

  void settle() {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    app_->update();
    while (app_->busy() && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      app_->update();
    }
    ASSERT_FALSE(app_->busy());
  }
  template <class... Args>
  void give(Args&&... args) {
    app_->commands().push(std::forward<Args>(args)...);
    settle();
  }
  void open(const std::vector<std::string>& paths) { give(Command(command::open_paths, paths)); }
  void ask_all() {
    for (int i = 0; i < static_cast<int>(Question::count_); ++i) app_->commands().ask(static_cast<Question>(i));
    settle();
  }

  test::TestHome home_;
  std::atomic<int> wakes_ = 0;
  std::unique_ptr<App> app_;
};

TEST_F(AppTest, a_view_that_is_not_there_has_a_reason_with_what_would_bring_it) {
  EXPECT_EQ("Nothing is open.", why_no_view(state(), ViewKind::top));
  open({leak_10});
  EXPECT_EQ("", why_no_view(state(), ViewKind::top));
  EXPECT_EQ("This file has sizes and stacks, but no addresses or times.", why_no_view(state(), ViewKind::heap_map));
  EXPECT_NE(std::string::npos, why_no_view(state(), ViewKind::diff).find("--baseline FILE"));
  open({leak_200});
  EXPECT_EQ("", why_no_view(state(), ViewKind::diff));
  for (const ViewRow& row : view_table())
    EXPECT_EQ(view_exists(state(), row.kind), why_no_view(state(), row.kind).empty()) << row.key;
}

TEST_F(AppTest, opens_a_profile_and_answers_what_the_view_asks_and_no_more) {
  open({leak_200});
  ASSERT_EQ(state().sources.size(), 1u);
  ASSERT_EQ(state().sources[0].state, AnswerState::ready) << state().sources[0].error.text();
  EXPECT_GT(wakes_, 0);
  EXPECT_EQ(state().answers().view.state, AnswerState::ready);
  EXPECT_EQ(state().answers().top.state, AnswerState::absent);
  app_->commands().ask(Question::top);
  settle();
  ASSERT_EQ(state().answers().top.state, AnswerState::ready);
  const TopAnswer& top = *state().answers().top.value;
  EXPECT_EQ(top.view->frames[static_cast<std::size_t>(top.rows->front().frame)].function, "remember_activations");
  EXPECT_EQ(state().answers().flame.state, AnswerState::absent);
}

TEST_F(AppTest, files_have_their_hues_again_but_pictures_do_not_depend_on_them) {
  open({leak_200});
  app_->commands().ask(Question::flame);
  settle();
  const auto known = state().hues.known().names();
  ASSERT_FALSE(known.empty());
  settle();
  EXPECT_EQ(known, App([] {}).state().hues.known().names());
  EXPECT_TRUE(App([] {}, /*leaves_no_trace=*/true).state().hues.known().names().empty());
}

TEST_F(AppTest, accounts_of_devices_and_kinds_add_up_to_the_total) {
  open({HBMSCOPE_SAMPLES "/sharded.pprof.gz"});
  const Source& source = state().sources[0];
  std::int64_t devices = 0;
  for (const DeviceAccount& account : source.accounts) {
    devices += account.total.bytes;
    std::int64_t kinds = 0;
    for (const KindAmount& kind : account.kinds) kinds += kind.weight.bytes;
    EXPECT_EQ(kinds, account.total.bytes) << account.short_name;
  }
  EXPECT_GE(source.accounts.size(), 4u);
  EXPECT_EQ(devices, source.summary->total.bytes);
}

TEST_F(AppTest, a_selection_made_anywhere_holds_everywhere_and_survives_a_filter) {
  open({leak_200});
  give(command::select_function, std::string("remember_activations"));
  ask_all();
  const auto view = state().answers().view.value;
  const FrameIndex selected = state().selected_frame(view);
  ASSERT_NE(selected, FrameIndex::none);
  EXPECT_EQ(view->frames[static_cast<std::size_t>(selected)].function, "remember_activations");
  ASSERT_EQ(state().answers().detail.state, AnswerState::ready);
  EXPECT_EQ(state().answers().detail.value->frame, selected);
  ASSERT_EQ(state().answers().listing.state, AnswerState::ready) << state().answers().listing.error.text();

  give(command::set_filter, std::string("kind:buffer"));
  ask_all();
  EXPECT_NE(state().selected_frame(state().answers().view.value), FrameIndex::none);
  EXPECT_EQ(state().selected_frame(view), FrameIndex::none) << "numbers of the old view must not be compared";
}

TEST_F(AppTest, undo_and_redo_bring_view_selection_and_filter_back) {
  open({leak_200});
  give(CommandId::show_top);
  give(command::set_filter, std::string("kind:buffer"));
  give(command::select_function, std::string("train"));
  give(CommandId::back);
  EXPECT_TRUE(position().selection.empty());
  EXPECT_EQ(position().request.where, "kind:buffer");
  give(CommandId::back);
  EXPECT_EQ(position().request.where, "");
  EXPECT_EQ(position().view, ViewKind::top);
  give(CommandId::back);
  EXPECT_EQ(position().view, ViewKind::summary);
  give(CommandId::forward);
  give(CommandId::forward);
  give(CommandId::forward);
  EXPECT_EQ(position().selection.function, "train");
  EXPECT_FALSE(why_not(state(), CommandId::forward).empty());
}

TEST_F(AppTest, a_wrong_filter_fails_with_words_and_keeps_the_old_answers) {
  open({leak_200});
  ask_all();
  const auto before = state().answers().top.value;
  give(command::set_filter, std::string("size>>"));
  ask_all();
  EXPECT_EQ(state().answers().view.state, AnswerState::failed);
  EXPECT_FALSE(state().answers().view.error.what.empty());
  EXPECT_EQ(state().answers().top.value, before);
  give(CommandId::clear_filter);
  EXPECT_EQ(state().answers().view.state, AnswerState::ready);
}

TEST_F(AppTest, dropped_frames_are_shown_on_request_and_are_no_filter) {
  open({leak_200});
  give(CommandId::toggle_dropped);
  EXPECT_TRUE(is_checked(state(), CommandId::toggle_dropped));
  give(command::set_filter, std::string("kind:executable"));
  give(CommandId::clear_filter);
  EXPECT_TRUE(position().request.where.empty());
  EXPECT_TRUE(position().request.keep_dropped_frames);
  ask_all();
  EXPECT_TRUE(state().answers().view.value->request.keep_dropped_frames);
  give(CommandId::toggle_dropped);
  EXPECT_FALSE(is_checked(state(), CommandId::toggle_dropped));
}

TEST_F(AppTest, going_back_to_an_earlier_filter_shows_the_very_answer_from_the_cache) {
  open({leak_200});
  ask_all();
  const auto first = state().answers().top.value;
  give(command::set_filter, std::string("kind:executable"));
  ask_all();
  EXPECT_NE(state().answers().top.value, first);
  app_->commands().push(CommandId::back);
  app_->update();  // One update, no waiting.
  EXPECT_EQ(state().answers().top.value, first);
  EXPECT_EQ(state().answers().top.state, AnswerState::ready);
}

TEST_F(AppTest, compares_with_a_baseline_and_swaps_the_sign) {
  open({leak_200});
  give(command::open_baseline_path, leak_10);
  ask_all();
  ASSERT_EQ(state().answers().diff.state, AnswerState::ready) << state().answers().diff.error.text();
  EXPECT_EQ(position().view, ViewKind::diff);
  const auto grown = state().answers().diff.value->now.bytes - state().answers().diff.value->baseline.bytes;
  EXPECT_EQ(grown, std::int64_t{95} << 20);
  give(CommandId::swap_baseline);
  ask_all();
  EXPECT_EQ(state().answers().diff.value->now.bytes - state().answers().diff.value->baseline.bytes, -grown);
  give(CommandId::stop_comparing);
  EXPECT_EQ(state().answers().diff.state, AnswerState::absent);
}

TEST_F(AppTest, a_folder_opens_as_a_series_and_totals_are_of_every_file) {
  give(command::open_folder_path, std::string(HBMSCOPE_SAMPLES));
  ask_all();
  ASSERT_EQ(state().answers().series.state, AnswerState::ready);
  EXPECT_EQ(state().answers().series.value->points.size(), state().ready_sources());
  EXPECT_GE(state().ready_sources(), 7u);
}

TEST_F(AppTest, several_profiles_open_at_their_totals_unless_another_view_was_asked_for) {
  open({leak_10});
  EXPECT_EQ(state().position().view, ViewKind::summary);
  open({leak_200});
  EXPECT_EQ(state().position().view, ViewKind::totals);
  give(command::set_view, ViewKind::diff);
  give(CommandId::reload_file);
  EXPECT_EQ(state().position().view, ViewKind::diff);
}

TEST_F(AppTest, profiles_that_open_together_after_a_view_was_asked_for_keep_it) {
  give(command::set_view, ViewKind::flame);
  open({leak_10, leak_200});
  EXPECT_EQ(state().ready_sources(), 2U);
  EXPECT_EQ(state().position().view, ViewKind::flame);
}

TEST_F(AppTest, files_of_other_formats_in_a_folder_are_skipped_and_named) {
  const fs::path folder = home_ / "mixed";
  fs::create_directories(folder);
  fs::copy_file(leak_200, folder / "a.pb.gz");
  std::ofstream(folder / "profile.prof", std::ios::binary) << std::string("{)\3z\1~i\0\0\0\0z\1f)", 14);
  std::ofstream(folder / "z.pkl", std::ios::binary) << "\x80\x04}.";
  give(command::open_folder_path, folder.string());
  ask_all();
  ASSERT_EQ(state().sources.size(), 1u);
  EXPECT_EQ(state().ready_sources(), 1u);
  EXPECT_NE(state().window.notice.find("2 files were skipped: "), std::string::npos) << state().window.notice;
  EXPECT_NE(state().window.notice.find("profile.prof is a cProfile profile"), std::string::npos);
  // Named directly, such a file says why it does not open.
  open({(folder / "profile.prof").string()});
  ASSERT_EQ(state().sources.size(), 2u);
  EXPECT_EQ(state().sources[1].state, AnswerState::failed);
}

TEST_F(AppTest, the_dumps_of_a_program_in_a_folder_open_once) {
  const fs::path folder = home_ / "dumps";
  fs::create_directories(folder);
  const std::string module = "HloModule jit_f, is_scheduled=true\n\nENTRY e {\n  ROOT x = f32[4]{0} parameter(0)\n}\n";
  for (const char* name : {"module_0001.jit_f.before_optimizations.txt", "module_0001.jit_f.after_optimizations.txt",
                           "module_0001.jit_f.ptx"})
    std::ofstream(folder / name) << module;
  give(command::open_folder_path, folder.string());
  ask_all();
  ASSERT_EQ(state().sources.size(), 1u);
  EXPECT_EQ(state().ready_sources(), 1u);
  EXPECT_EQ(state().window.notice,
            "1 more dump file is of the same program, and was not added up: "
            "module_0001.jit_f.before_optimizations.txt; 1 dump file has nothing about memory.");
}

TEST_F(AppTest, a_file_that_can_not_be_read_says_why_and_can_be_tried_again) {
  const fs::path file = home_ / "cut.prof";
  std::ofstream(file) << "not a profile";
  open({file.string()});
  ASSERT_EQ(state().sources.size(), 1u);
  EXPECT_EQ(state().sources[0].state, AnswerState::failed);
  EXPECT_FALSE(state().sources[0].error.what.empty());
  EXPECT_EQ(why_not(state(), CommandId::copy), "Open a file first.");
  fs::copy_file(leak_200, file, fs::copy_options::overwrite_existing);
  give(CommandId::reload_file);
  EXPECT_EQ(state().sources[0].state, AnswerState::ready);
}

TEST_F(AppTest, cancelling_leaves_no_trace) {
  app_->commands().push(Command(command::open_paths, {leak_200}));
  while (state().sources.empty()) app_->update();
  app_->commands().push(command::cancel_loading, state().sources[0].id);
  settle();
  // Either it was stopped, or it was through already: a half-read file there is not.
  for (const Source& source : state().sources) EXPECT_EQ(source.state, AnswerState::ready);
}

TEST_F(AppTest, closing_the_file_in_front_shows_the_next_and_forgets_the_baseline) {
  open({leak_10, leak_200});
  give(command::compare_with, state().sources[0].id);
  give(command::close_source, state().sources[0].id);
  EXPECT_EQ(state().sources.size(), 1u);
  EXPECT_EQ(position().baseline, SourceId::none);
  give(CommandId::close_file);
  EXPECT_TRUE(state().sources.empty());
  EXPECT_EQ(position().source, SourceId::none);
  EXPECT_EQ(state().answers().view.state, AnswerState::absent);
}

TEST_F(AppTest, a_click_on_a_device_filters_and_a_second_click_takes_it_back) {
  open({leak_200});
  give(command::set_filter, std::string("kind:buffer"));
  give(command::add_filter, std::string("device:0"));
  EXPECT_EQ(position().request.where, "kind:buffer device:0");
  give(command::add_filter, std::string("kind:buffer"));
  EXPECT_EQ(position().request.where, "device:0");
  give(command::add_filter, std::string("device:0"));
  EXPECT_EQ(position().request.where, "");
}

TEST_F(AppTest, recent_files_and_settings_outlive_the_window) {
  open({leak_200});
  give(command::set_theme, Theme::light);
  app_->save_settings();
  app_ = std::make_unique<App>([] {});
  settle();
  EXPECT_EQ(state().settings.theme, Theme::light);
  ASSERT_EQ(state().recent.size(), 1u);
  EXPECT_EQ(fs::path(state().recent[0].path).filename(), "leak_step_200.pprof.gz");
  EXPECT_FALSE(state().recent[0].missing);
}

TEST_F(AppTest, settings_are_written_when_they_change) {
  give(command::set_theme, Theme::light);
  give(command::set_editor, std::string("kate"));
  EXPECT_EQ(state().settings, read_settings(config_folder() / "settings.json"));
  EXPECT_EQ("kate -l LINE FILE", state().editor);
}

TEST_F(AppTest, the_theme_of_the_system_is_followed_only_where_it_was_asked_for) {
  give(command::note_system_theme, Theme::light);
  EXPECT_EQ(Theme::dark, state().settings.theme);
  give(CommandId::follow_system_theme);
  give(command::note_system_theme, Theme::light);
  EXPECT_EQ(Theme::light, state().settings.theme);
  give(CommandId::toggle_theme);
  EXPECT_FALSE(state().settings.follows_system);
}

TEST_F(AppTest, another_file_opens_with_its_own_view_and_an_open_one_keeps_it) {
  open({leak_200});
  give(CommandId::show_source);
  const std::uint64_t before = state().window.file_serial;
  give(command::open_text,
       std::string("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to "
                   "allocate 3221225472 bytes."));
  EXPECT_EQ(ViewKind::failure, position().view);
  EXPECT_EQ(before + 1, state().window.file_serial);
  give(CommandId::show_source);
  give(command::show_source_file, state().sources[0].id);
  EXPECT_EQ(ViewKind::source, position().view);
  EXPECT_EQ(before + 1, state().window.file_serial);
}

TEST_F(AppTest, a_pasted_failure_stays_the_time_that_is_shown_after_reloading_it) {
  give(command::open_text,
       std::string("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
                   "capacity of 79.11 GiB of which 1.12 GiB is free. Of the allocated memory 70.00 GiB is "
                   "allocated by PyTorch, and 6.00 GiB is reserved by PyTorch but unallocated."));
  ASSERT_TRUE(state().source()->trace);
  const MomentName at = position().at;
  EXPECT_FALSE(at.empty());
  give(CommandId::show_failure);
  const std::uint64_t before = state().window.file_serial;
  app_->commands().push(CommandId::reload_file);
  app_->update();
  // The only tab while it is read; it may have been already.
  if (state().source()->state == AnswerState::pending) app_->commands().push(command::note_view, ViewKind::import);
  settle();
  EXPECT_EQ(at, position().at);
  EXPECT_EQ(ViewKind::failure, position().view);
  EXPECT_EQ(before + 1, state().window.file_serial);
}

TEST_F(AppTest, an_open_log_is_read_again_when_it_grows) {
  const fs::path log = home_ / "train.log";
  std::ofstream(log) << "step 1 loss 2.5\nstep 2 loss 2.4\n";
  open({log.string()});
  ASSERT_EQ(AnswerState::ready, state().source()->state) << "nothing failed so far, which is an answer";
  ASSERT_TRUE(app_->follows_files());
  const auto wait_for_failures = [&](std::size_t failures) {
    const auto count = [&] {
      const auto& trace = state().source()->trace;
      return trace == nullptr || trace->streams.empty() ? 0 : trace->streams[0].failures().size();
    };
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (count() < failures && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      settle();
    }
    return count();
  };
  EXPECT_EQ(0U, wait_for_failures(0));
  const auto add_failure =
      [&](const char* requested) {
        std::ofstream(log, std::ios::app)
            << "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " << requested
            << ". GPU 0 has a total capacity of 79.11 GiB of which 1.12 GiB is free. Of the allocated "
               "memory 70.00 GiB is allocated by PyTorch, and 6.00 GiB is reserved by PyTorch but "
               "unallocated.\n";
      };
  add_failure("2.00 GiB");
  EXPECT_EQ(1U, wait_for_failures(1));
  EXPECT_EQ(state().source()->opening_at, position().at) << "at the failure";
  EXPECT_NE(ViewKind::summary, position().view) << "it was in front because nothing could be shown";
  add_failure("3.00 GiB");
  EXPECT_EQ(2U, wait_for_failures(2));
  EXPECT_EQ("train.log has another failure.", state().window.notice);
}

TEST_F(AppTest, a_problem_report_names_no_file) {
  open({leak_200});
  app_->set_about("hbmscope 1.2.3");
  give(command::note_graphics, std::string("OpenGL 4.5"));
  give(CommandId::report_problem);
  const std::string& report = state().window.clipboard;
  EXPECT_TRUE(report.starts_with("hbmscope 1.2.3\nsystem: OpenGL 4.5\n")) << report;
  EXPECT_NE(std::string::npos, report.find("open: file .gz, ")) << report;
  EXPECT_EQ(std::string::npos, report.find("leak_step")) << report;
}

TEST_F(AppTest, export_writes_what_the_filter_leaves) {
  open({leak_200});
  give(CommandId::export_folded);
  EXPECT_EQ(state().window.dialog, WindowState::Dialog::export_file);
  const fs::path out = home_ / "out.folded";
  give(command::write_export, out.string());
  EXPECT_EQ(state().window.dialog, WindowState::Dialog::none);
  std::ifstream in(out);
  std::string line;
  ASSERT_TRUE(std::getline(in, line)) << state().window.notice;
  EXPECT_NE(line.find(';'), std::string::npos);
}

TEST_F(AppTest, the_file_dialog_lists_folders_off_the_frame) {
  give(command::list_folder, std::string(HBMSCOPE_SAMPLES));
  ASSERT_EQ(state().folder.state, AnswerState::ready);
  bool found = false;
  for (const FolderEntry& entry : state().folder.value->entries)
    found = found || (entry.name == "leak_step_200.pprof.gz" && entry.is_profile && entry.size_bytes > 0);
  EXPECT_TRUE(found);
  give(command::list_folder, std::string("/no/such/folder"));
  EXPECT_EQ(state().folder.state, AnswerState::failed);
}

}  // namespace
}  // namespace hbmscope::gui
