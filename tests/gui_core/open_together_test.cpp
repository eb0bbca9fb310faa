// Files that are opened together: pieces of one thing become one source, whatever else is opened with them.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "app/gui/core/app.h"
#include "app/gui/core/copy_as_command.h"
#include "tests/analysis/proto_message.h"
#include "tests/gui_core/test_home.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

namespace fs = std::filesystem;

class OpenTogether : public testing::Test {
 protected:
  OpenTogether() {
    folder_ = home_ / "job";
    fs::create_directories(folder_);
    app_ = std::make_unique<App>([] {});
  }

  // A memory dump of the attempt `attempt` at one request, four seconds after the one before.
  std::string write_dump(int attempt, const char* allocator = "GPU_0_bfc") {
    tests::Message dump;
    dump.text(1, allocator);
    for (std::uint64_t i = 0; i < 4 + static_cast<std::uint64_t>(attempt); ++i)
      dump.add(3, tests::Message().number(1, 0x10000000 + i * mib).number(2, mib).number(3, mib).number(8, 1));
    fs::path file = folder_ / ("d_" + std::string(allocator) + ".176422973" + std::to_string(attempt * 4) + "123456");
    std::ofstream(file, std::ios::binary) << dump.bytes;
    return file.string();
  }

  const AppState& state() const { return app_->state(); }
  void settle() {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      app_->update();
    } while (app_->busy() && std::chrono::steady_clock::now() < give_up);
    ASSERT_FALSE(app_->busy());
  }
  template <class... Args>
  void give(Args&&... args) {
    app_->commands().push(std::forward<Args>(args)...);
    app_->update();
    settle();
  }
  static std::uint64_t bytes_at_end(const Source& source) {
    return source.trace->streams[0].last_state().in_use_bytes(source.devices.front().heaps.front().key.heap);
  }

  test::TestHome home_;
  fs::path folder_;
  std::unique_ptr<App> app_;
};

TEST_F(OpenTogether, the_dumps_of_one_failure_in_a_folder_are_one_source) {
  for (int attempt = 0; attempt < 3; ++attempt) write_dump(attempt);
  give(command::open_folder_path, folder_.string());
  ASSERT_EQ(state().sources.size(), 1u);
  const Source& source = state().sources[0];
  ASSERT_EQ(source.state, AnswerState::ready) << source.error.text();
  EXPECT_EQ(source.id, state().position().source);
  EXPECT_EQ(bytes_at_end(source), 6 * mib) << "the heap of the last attempt";
  EXPECT_EQ(source.name(), "d_GPU_0_bfc.1764229730123456 and 2 more");
  EXPECT_EQ(source.files().size(), 3u);
  EXPECT_EQ(state().position().view, ViewKind::heap_map);
  ASSERT_EQ(state().recent.size(), 1u);
  EXPECT_EQ(state().recent[0].path, folder_.string()) << "which opens the same again";
  // All of its files are open.
  give(Command(command::open_paths, {source.files()[1]}));
  EXPECT_EQ(state().sources.size(), 1u);
}

TEST_F(OpenTogether, what_does_not_belong_to_it_stays_a_source_of_its_own) {
  const std::string first = write_dump(0), other = write_dump(0, "GPU_1_bfc"), last = write_dump(1);
  give(Command(command::open_paths, {first, HBMSCOPE_SAMPLES "/leak_step_010.pprof.gz", other, last}));
  ASSERT_EQ(state().sources.size(), 3u);
  for (const Source& source : state().sources) EXPECT_EQ(source.state, AnswerState::ready) << source.error.text();
  EXPECT_EQ(state().sources[0].files(), (std::vector<std::string>{first, last}));
  EXPECT_EQ(state().sources[2].files(), std::vector<std::string>{other});
  EXPECT_EQ(state().position().source, state().sources[0].id) << "the last file was in front, and is part of it";
  EXPECT_NE(report_command(state()).find(first + " " + last), std::string::npos) << report_command(state());
}

TEST_F(OpenTogether, the_time_on_the_command_line_is_that_of_the_file_in_front) {
  const std::string first = write_dump(0), last = write_dump(1);
  app_->commands().push(Command(command::open_paths, {first, last}));
  give(command::set_moment, MomentName("start"));
  ASSERT_EQ(state().sources.size(), 1u);
  EXPECT_EQ(state().position().at, "start");
}

TEST_F(OpenTogether, one_of_them_that_can_not_be_read_does_not_stop_the_others) {
  const std::string first = write_dump(0), last = write_dump(1), bad = (folder_ / "bad.pickle").string();
  std::ofstream(bad) << "not a pickle";
  give(Command(command::open_paths, {first, bad, last}));
  ASSERT_EQ(state().sources.size(), 2u);
  EXPECT_EQ(state().sources[0].files().size(), 2u);
  EXPECT_EQ(state().sources[1].state, AnswerState::failed);
}

TEST_F(OpenTogether, read_again_they_are_joined_again_or_it_says_why_not) {
  for (int attempt = 0; attempt < 2; ++attempt) write_dump(attempt);
  give(command::open_folder_path, folder_.string());
  ASSERT_EQ(state().sources.size(), 1u);
  const SourceId before = state().sources[0].id;
  give(CommandId::reload_file);
  ASSERT_EQ(state().sources.size(), 1u);
  const Source& source = state().sources[0];
  EXPECT_NE(source.id, before);
  ASSERT_EQ(source.state, AnswerState::ready) << source.error.text();
  EXPECT_EQ(source.files().size(), 2u);
  EXPECT_EQ(bytes_at_end(source), 5 * mib);
  fs::copy_file(HBMSCOPE_SAMPLES "/leak_step_010.pprof.gz", source.files()[1], fs::copy_options::overwrite_existing);
  give(CommandId::reload_file);
  EXPECT_EQ(state().sources[0].state, AnswerState::failed);
  EXPECT_NE(state().sources[0].error.what.find("no longer belong together"), std::string::npos);
}

TEST_F(OpenTogether, a_recording_of_a_dry_run_on_tpus_knows_the_folder_of_its_programs) {
  const fs::path recording = folder_ / "train.hbm";
  fs::copy_file(fs::path(HBMSCOPE_SAMPLES) / "stories" / "finetune.hbm", recording);
  give(command::open_paths, std::vector<std::string>{recording.string()});
  ASSERT_EQ(state().sources.size(), 1u);
  EXPECT_EQ(state().sources[0].plans_folder, "");
  fs::create_directory(folder_ / "train.programs");
  give(CommandId::close_file);
  give(command::open_paths, std::vector<std::string>{recording.string()});
  EXPECT_EQ(state().sources[0].plans_folder, (folder_ / "train.programs").string());
}

// Two programs of one array each, and the least one in front by name.
TEST_F(OpenTogether, programs_of_a_folder_are_sorted_by_what_they_need) {
  const auto write_program = [&](const char* name, int floats) {
    std::ofstream(folder_ / ("module_000" + std::string(name) + ".after_optimizations.txt"))
        << "HloModule jit_f, is_scheduled=true\n\nENTRY e {\n  ROOT x = f32[" << floats << "]{0} parameter(0)\n}\n";
  };
  write_program("1.jit_a", 16);
  write_program("2.jit_b", 1024);
  write_program("3.jit_c", 64);
  give(command::open_folder_path, folder_.string());
  ASSERT_EQ(state().sources.size(), 3u);
  for (const Source& source : state().sources) ASSERT_EQ(source.state, AnswerState::ready) << source.error.text();
  EXPECT_EQ(state().sources[0].name(), "module_0002.jit_b.after_optimizations.txt");
  EXPECT_EQ(state().sources[1].name(), "module_0003.jit_c.after_optimizations.txt");
  EXPECT_EQ(state().sources[2].name(), "module_0001.jit_a.after_optimizations.txt");
  EXPECT_EQ(state().position().source, state().sources[0].id);
  EXPECT_EQ(state().position().at, state().sources[0].opening_at);
  // Named one by one, they keep their order.
  for (int i = 0; i < 3; ++i) give(CommandId::close_file);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().string());
  std::sort(names.begin(), names.end());
  give(Command(command::open_paths, names));
  ASSERT_EQ(state().sources.size(), 3u);
  EXPECT_EQ(state().sources[0].path, names[0]);
  EXPECT_EQ(state().position().source, state().sources[2].id);
  // Beside something else, they do, too.
  for (int i = 0; i < 3; ++i) give(CommandId::close_file);
  write_dump(0);
  give(command::open_folder_path, folder_.string());
  ASSERT_EQ(state().sources.size(), 4u);
  for (const Source& source : state().sources) EXPECT_EQ(source.state, AnswerState::ready) << source.error.text();
  EXPECT_EQ(state().sources[1].path, names[0]);
}

TEST_F(OpenTogether, a_file_that_waits_can_be_cancelled) {
  const std::string first = write_dump(0), last = write_dump(1);
  app_->commands().push(Command(command::open_paths, {first, last}));
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  do {
    app_->update();
    for (const Source& source : state().sources) {
      if (source.waits_for != nullptr) app_->commands().push(command::cancel_loading, source.id);
    }
  } while (app_->busy() && std::chrono::steady_clock::now() < give_up);
  // Either it was cancelled, or both were read between two frames.
  EXPECT_LE(state().sources.size(), 1u);
  for (const Source& source : state().sources) EXPECT_EQ(source.state, AnswerState::ready);
}

// What two sources of one process have at the same addresses counts once, and selecting it in one selects it in the
// other.
TEST_F(OpenTogether, files_of_one_job_become_one_source_on_request) {
  const std::string first = write_dump(0), other = write_dump(0, "GPU_1_bfc");
  give(Command(command::open_paths, {first, other}));
  ASSERT_EQ(state().sources.size(), 2u);
  give(CommandId::join_files);
  ASSERT_EQ(state().sources.size(), 3u);
  const Source& joined = state().sources.back();
  ASSERT_EQ(joined.state, AnswerState::ready) << joined.error.text();
  EXPECT_TRUE(joined.is_joined);
  EXPECT_EQ(joined.id, state().position().source);
  EXPECT_EQ(joined.files(), (std::vector<std::string>{first, other}));
  EXPECT_EQ(joined.trace->streams.size(), 2u);
  give(CommandId::reload_file);
  ASSERT_EQ(state().sources.back().state, AnswerState::ready) << state().sources.back().error.text();
  EXPECT_EQ(state().sources.back().trace->streams.size(), 2u);
}

TEST_F(OpenTogether, as_one_job_all_files_wait_for_each_other) {
  const std::string first = write_dump(0), other = write_dump(0, "GPU_1_bfc");
  give(Command(command::open_as_one_job, {first, other}));
  ASSERT_EQ(state().sources.size(), 1u);
  EXPECT_EQ(state().sources[0].trace->streams.size(), 2u);
  EXPECT_EQ(state().position().source, state().sources[0].id);
}

TEST_F(OpenTogether, profiles_alone_are_no_job) {
  give(Command(command::open_as_one_job,
               {HBMSCOPE_SAMPLES "/leak_step_010.pprof.gz", HBMSCOPE_SAMPLES "/leak_step_050.pprof.gz"}));
  ASSERT_EQ(state().sources.size(), 1u);
  EXPECT_EQ(state().sources[0].state, AnswerState::failed);
  EXPECT_NE(state().sources[0].error.what.find("none of them is a trace"), std::string::npos);
}

}  // namespace
}  // namespace hbmscope::gui
