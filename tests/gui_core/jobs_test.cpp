// The list of running jobs and attaching, with a program in hbmscope's place that says what the test wants.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "app/gui/core/app.h"
#include "app/gui/sources/jobs.h"
#include "tests/gui_core/pretend_hbmscope.h"

namespace hbmscope::gui {
namespace {

using test::json_from;
using test::two_jobs;

TEST(JobListing, is_what_ps_prints) {
  const auto listing = job_listing_from(two_jobs);
  ASSERT_TRUE(listing) << listing.error().what;
  ASSERT_EQ(listing->devices.size(), 1U);
  EXPECT_EQ(listing->devices[0].used_bytes, 400U);
  ASSERT_EQ(listing->jobs.size(), 2U);
  const JobRow& job = listing->jobs[0];
  EXPECT_EQ(job.command, "python train.py rest") << "one line";
  EXPECT_EQ(job.loaded, "jax 0.10.2, PJRT plugin, CUDA");
  EXPECT_EQ(job.visible, "pool of JAX");
  EXPECT_EQ(listing->jobs[1].visible, "") << "an older hbmscope does not report it";
  EXPECT_EQ(job.bytes, 300U);
  EXPECT_EQ(job.devices, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_TRUE(job.can_be_attached());
  EXPECT_FALSE(listing->jobs[1].bytes.has_value()) << "not told, which is not none";
  EXPECT_FALSE(listing->jobs[1].can_be_attached());
  EXPECT_TRUE(job.has_cuda);
  EXPECT_EQ(listing->not_looked_at, 3U);
  EXPECT_FALSE(job_listing_from("hbmscope: there is no such command"));
  EXPECT_FALSE(job_listing_from(json_from("{'devices':[],'jobs':[{'pid':'x'}]}")));
}

TEST(JobListing, is_filtered_by_words_in_any_order) {
  const auto listing = job_listing_from(two_jobs);
  ASSERT_TRUE(listing);
  EXPECT_EQ(filter_jobs(*listing, "").size(), 2U);
  EXPECT_EQ(filter_jobs(*listing, "TRAIN ann").size(), 1U);
  EXPECT_EQ(filter_jobs(*listing, "cuda").size(), 2U);
  EXPECT_EQ(filter_jobs(*listing, "47 jax")[0]->process, 4711);
  EXPECT_TRUE(filter_jobs(*listing, "train bob").empty());
}

TEST(JobListing, stands_device_by_device_and_those_of_none_at_its_end) {
  JobListing listing;
  const std::vector<std::vector<std::uint32_t>> devices = {{}, {2, 1}, {0}, {1}, {0, 3}};
  for (std::size_t i = 0; i < devices.size(); ++i) {
    listing.jobs.emplace_back().process = static_cast<std::int64_t>(i);
    listing.jobs.back().devices = devices[i];
  }
  std::vector<std::int64_t> order;
  for (const JobRow* job : filter_jobs(listing, "")) order.push_back(job->process);
  EXPECT_EQ(order, (std::vector<std::int64_t>{2, 4, 1, 3, 0}));
}

TEST(JobListing, leaves_out_helpers_of_jobs_and_keeps_the_order_of_their_numbers) {
  JobListing listing;
  const auto add = [&](std::int64_t process, std::int64_t parent, const char* command, bool has_memory) {
    JobRow& row = listing.jobs.emplace_back();
    row.process = process;
    row.parent = parent;
    row.command = command;
    if (has_memory) row.devices = {0};
  };
  add(30, 1, "python train.py", true);
  add(31, 30, "/usr/bin/addr2line -e libtorch.so", false);
  add(32, 30, "python train.py", false);  // Loads data.
  add(20, 1, "python serve.py", true);
  add(40, 1, "python emulated.py", false);
  add(41, 40, "python emulated.py", false);  // A rank, as far as anybody knows.
  std::vector<std::int64_t> order;
  for (const JobRow* job : filter_jobs(listing, "")) order.push_back(job->process);
  EXPECT_EQ(order, (std::vector<std::int64_t>{20, 30, 40, 41}));
}

class Jobs : public testing::Test {
 protected:
  void SetUp() override {
    home_ = std::filesystem::temp_directory_path() / ("hbmscope-jobs-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(home_);
    std::filesystem::permissions(home_, std::filesystem::perms::owner_all);
    for (const char* folder : {"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"})
      setenv(folder, home_.c_str(), 1);
    program_.emplace(home_);
  }
  void TearDown() override {
    program_.reset();
    std::filesystem::remove_all(home_);
  }
  std::string said() const { return program_->said(); }

  std::filesystem::path home_;
  std::optional<test::PretendHbmscope> program_;
};

template <class Happened>
void run_until(App& app, const Happened& happened) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!happened() && std::chrono::steady_clock::now() < limit) {
    app.update();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(happened());
}

TEST_F(Jobs, are_listed_when_somebody_looks) {
  App app([] {});
  for (int i = 0; i < 20; ++i) app.update();
  EXPECT_EQ(said(), "") << "nobody has asked";
  app.commands().push(CommandId::show_jobs);
  run_until(app, [&] { return app.state().jobs.listing.has_value(); });
  EXPECT_EQ(app.state().jobs.listing->jobs.size(), 2U);
  EXPECT_EQ(said(), "ps --json --every 1\n");
  app.commands().push(CommandId::escape);
  run_until(app, [&] { return !app.state().jobs.is_open; });
}

TEST(JobRows, ranks_have_one_command_and_can_be_attached_to) {
  JobListing listing;
  listing.jobs.resize(6);
  for (std::size_t i = 0; i < 6; ++i) {
    listing.jobs[i].process = static_cast<std::int64_t>(100 + i);
    listing.jobs[i].command = i == 3 ? "python other.py" : "python train.py";
  }
  listing.jobs[1].refusal = "it is asleep";
  listing.jobs[4].user = "somebody else";
  listing.jobs[5].parent = 100;  // It loads data.
  EXPECT_EQ(count_ranks(listing, listing.jobs[0]), 2U);
  EXPECT_EQ(count_ranks(listing, listing.jobs[3]), 1U);
}

TEST_F(Jobs, are_listed_on_the_first_page) {
  App app([] {});
  app.list_jobs();
  run_until(app, [&] { return app.state().jobs.listing.has_value(); });
}

TEST_F(Jobs, of_another_machine_are_listed_and_attached_to_there) {
  App app([] {});
  app.commands().push(CommandId::show_jobs);
  app.commands().push(command::list_host, "gpu7");
  run_until(app, [&] { return app.state().jobs.listing.has_value() && app.state().jobs.host == "gpu7"; });
  run_until(app, [&] { return said().find("ps --on gpu7 --json --every 1\n") != std::string::npos; });
  app.commands().push(command::attach_to, {4711});
  run_until(app, [&] { return said().find("attach --on gpu7 4711 --no-window --record ") != std::string::npos; });
  ASSERT_NE(app.state().source(), nullptr);
  EXPECT_EQ(app.state().source()->path, "live:gpu7:4711");
  app.commands().push(command::attach_to_all, {4711});
  run_until(app, [&] { return said().find(".hbm --all\n") != std::string::npos; });
  app.commands().push(CommandId::leave_cupti);
  app.commands().push(command::attach_to, {4711});
  run_until(app, [&] { return said().find(".hbm --no-cupti\n") != std::string::npos; });
  app.commands().push(command::list_host, "");
  run_until(app, [&] { return app.state().jobs.host.empty(); });
}

TEST_F(Jobs, what_is_needed_elsewhere_is_copied_when_somebody_agrees) {
  program_->be("case \"$*\" in *--yes*) exec cat " + (home_ / "list").string() + ";; esac\n" +
               "echo 'hbmscope: gpu7: hbmscope is not there yet. --yes copies it.' >&2\nexit 2\n");
  std::ofstream(home_ / "list") << two_jobs << "\n";
  App app([] {});
  app.commands().push(CommandId::show_jobs);
  app.commands().push(command::list_host, "gpu7");
  run_until(app, [&] { return app.state().jobs.needs_copy(); });
  EXPECT_EQ(app.state().jobs.wrong, "gpu7: hbmscope is not there yet. --yes copies it.");
  EXPECT_EQ(said().find("--yes"), std::string::npos);
  app.commands().push(CommandId::copy_to_host);
  run_until(app, [&] { return app.state().jobs.listing.has_value(); });
  EXPECT_EQ(app.state().jobs.wrong, "");
  EXPECT_FALSE(app.state().jobs.needs_copy());
}

TEST_F(Jobs, of_one_that_cant_be_attached_to_the_totals_can_be_watched) {
  JobRow job;
  EXPECT_FALSE(job.has_totals_alone()) << "it can be attached to";
  job.refusal = "it is asleep";
  EXPECT_FALSE(job.has_totals_alone()) << "the driver tells of none";
  job.devices = {1};
  EXPECT_TRUE(job.has_totals_alone());
  App app([] {});
  app.commands().push(CommandId::leave_cupti);
  app.commands().push(command::attach_totals, {4712});
  run_until(app, [&] { return said().find("attach 4712") != std::string::npos; });
  EXPECT_NE(said().find(".hbm --totals\n"), std::string::npos) << said();
}

TEST_F(Jobs, what_attaching_does_is_said_first_and_a_refusal_is_shown) {
  App app([] {});
  app.commands().push(CommandId::show_jobs);
  app.commands().push(command::ask_to_attach, {4711});
  run_until(app, [&] { return app.state().jobs.is_asking; });
  EXPECT_EQ(said().find("attach"), std::string::npos);
  app.commands().push(CommandId::escape);
  run_until(app, [&] { return !app.state().jobs.is_asking; });
  EXPECT_TRUE(app.state().jobs.is_open) << "one step at a time";
  app.commands().push(command::attach_to, {4711});
  run_until(app, [&] { return app.state().source() != nullptr && app.state().source()->state == AnswerState::failed; });
  EXPECT_EQ(app.state().source()->error.what, "can't attach to 4711: it is asleep. Wake it.");
  EXPECT_NE(said().find("attach 4711 --no-window --record " + home_.string()), std::string::npos) << said();
  EXPECT_FALSE(app.state().jobs.is_open);
  EXPECT_NE(why_not(app.state(), CommandId::detach), "");
}

}  // namespace
}  // namespace hbmscope::gui
