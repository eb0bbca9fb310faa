// An emulated workload in the window's state: opened, changed, and what stays of where one looked.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "analysis/units/format.h"
#include "analysis/units/shell_quote.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/app.h"
#include "app/gui/core/copy_as_command.h"
#include "tests/gui_core/test_home.h"

namespace hbmscope::gui {
namespace {

const std::string samples = HBMSCOPE_SAMPLES "/tpu/";

class WorkloadPanelTest : public testing::Test {
 protected:
  WorkloadPanelTest() {
    app_ = std::make_unique<App>([] {});
  }

  template <class... Args>
  void give(Args&&... args) {
    app_->commands().push(std::forward<Args>(args)...);
    settle();
  }
  void settle() {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    do {
      app_->update();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      app_->commands().begin_frame(state().active_context);
      app_->commands().ask(Question::heap_map);
      app_->update();
    } while (app_->busy() && std::chrono::steady_clock::now() < give_up);
    ASSERT_FALSE(app_->busy());
  }
  void open(const std::string& name) {
    give(Command(command::open_paths, {samples + name}));
    ASSERT_NE(nullptr, state().source());
    ASSERT_TRUE(state().source()->workload) << state().source()->error.text();
  }
  static Command change(const std::vector<std::string>& words) {
    return {command::set_workload, changes_from_words(words)};
  }

  const AppState& state() const { return app_->state(); }
  const WorkloadPanel& panel() const { return *state().source()->workload; }
  const TraceMoment& moment() const { return *state().answers().moment.value; }
  std::string heap_name() const {
    const HeapKey heap = state().answers().heap_map.value->heap;
    return moment().stream(heap).definitions().heap(heap.heap).name;
  }

  test::TestHome home_;
  std::unique_ptr<App> app_;
};

// HBM is 2.2 % full at its peak, VMEM 3.1 %.
TEST_F(WorkloadPanelTest, a_workload_opens_as_its_emulation_at_the_peak_of_its_fullest_memory) {
  open("matmul_buffers.json");
  const HeapKey heap = state().answers().heap_map.value->heap;
  EXPECT_EQ("VMEM", heap_name());
  EXPECT_EQ(moment().stream(heap).peak(heap.heap).position, moment().position(heap));
  EXPECT_TRUE(panel().answer->verdict.fits);
  EXPECT_TRUE(view_exists(state(), ViewKind::tpu));
  EXPECT_FALSE(view_exists(state(), ViewKind::failure));
  EXPECT_EQ("matmul_buffers.json", state().source()->name());
}

TEST_F(WorkloadPanelTest, a_workload_that_fits_does_not_open_at_a_failure_of_the_extra_pool) {
  open("server.json");
  EXPECT_TRUE(panel().answer->verdict.fits);
  EXPECT_EQ("peak", state().position().at);
  EXPECT_EQ("HBM", heap_name());
  std::vector<std::string> devices;
  for (const DeviceHeaps& device : state().source()->devices) devices.push_back(device.name);
  EXPECT_EQ((std::vector<std::string>{"device 0", "compared GPU"}), devices);
  give(command::choose_heap_named, "GPU_0_bfc");
  EXPECT_EQ("GPU_0_bfc", heap_name());
  give(change({"defragmentation=off"}));
  give(command::choose_heap_named, "HBM");
  EXPECT_FALSE(panel().answer->verdict.fits);
  EXPECT_NE("peak", state().position().at);
}

TEST_F(WorkloadPanelTest, memories_of_a_core_are_called_by_their_names) {
  open("matmul_buffers.json");
  std::vector<std::string> devices;
  for (const DeviceHeaps& device : state().source()->devices) devices.push_back(device.name);
  EXPECT_EQ((std::vector<std::string>{"device 0", "VMEM"}), devices);
}

TEST_F(WorkloadPanelTest, a_change_emulates_again_and_goes_to_what_fails) {
  open("fsdp.json");
  const SourceId before = state().position().source;
  give(change({"mesh.fsdp=4"}));
  EXPECT_NE(before, state().position().source) << "answers about one are none about the other";
  EXPECT_FALSE(panel().answer->verdict.fits);
  EXPECT_EQ("oom", state().position().at);
  EXPECT_TRUE(view_exists(state(), ViewKind::failure));
  EXPECT_EQ("fsdp.json (mesh.fsdp=4)", state().source()->name());
  EXPECT_EQ(state().source()->trace, moment().trace);
  give(CommandId::reset_workload);
  EXPECT_TRUE(panel().answer->verdict.fits);
  EXPECT_EQ("peak", state().position().at);
  EXPECT_EQ(1U, state().sources.size());
}

TEST_F(WorkloadPanelTest, the_heap_and_a_named_moment_stay_where_they_are) {
  open("matmul_buffers.json");
  give(command::choose_heap_named, "VMEM");
  give(command::set_moment, "#40");
  ASSERT_EQ("VMEM", heap_name());
  give(change({"rings=3"}));
  EXPECT_EQ("#40", state().position().at);
  EXPECT_EQ("VMEM", heap_name());
  EXPECT_EQ(40U, moment().moment.positions[0]);
}

TEST_F(WorkloadPanelTest, a_moment_that_is_no_more_becomes_the_opening_one) {
  open("matmul_buffers.json");
  const std::uint64_t end = state().source()->trace->streams.front().end_position();
  give(command::set_moment, "#" + std::to_string(end));
  give(change({"block=2048"}));
  ASSERT_LT(state().source()->trace->streams.front().end_position(), end);
  EXPECT_EQ(state().source()->opening_at, state().position().at);
}

TEST_F(WorkloadPanelTest, what_cant_be_emulated_is_said_and_the_last_answer_stays) {
  open("matmul_buffers.json");
  const auto before = panel().answer;
  give(change({"block=0"}));
  ASSERT_TRUE(panel().error);
  EXPECT_EQ(before, panel().answer);
  EXPECT_NE(nullptr, state().source()->trace);
  give(change({"block=256"}));
  EXPECT_FALSE(panel().error);
  EXPECT_NE(before, panel().answer);
}

TEST_F(WorkloadPanelTest, of_many_changes_at_once_the_last_one_counts) {
  open("matmul_buffers.json");
  for (const char* rings : {"rings=1", "rings=3", "rings=4", "rings=5"}) app_->commands().push(change({rings}));
  settle();
  EXPECT_EQ("rings=5", text_from_changes(panel().answer->opened->changes));
  EXPECT_EQ(nullptr, panel().emulating);
}

// Some 100,000 operations.
const std::vector<std::string> takes_long = {"layers=12000"};

TEST_F(WorkloadPanelTest, what_takes_long_is_not_waited_for_when_something_else_is_wanted) {
  open("fsdp.json");
  app_->commands().push(change(takes_long));
  app_->update();
  const auto first = panel().emulating;
  ASSERT_NE(nullptr, first);
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  app_->commands().push(change({"layers=2"}));
  app_->update();
  if (panel().emulating == first) {
    EXPECT_TRUE(first->cancelled);
  }
  settle();
  EXPECT_EQ("layers=2", text_from_changes(panel().answer->opened->changes));
  EXPECT_FALSE(panel().error) << "that it was cancelled is no error of the workload's";
}

TEST_F(WorkloadPanelTest, what_was_cancelled_and_is_wanted_again_is_emulated) {
  open("fsdp.json");
  app_->commands().push(change({"layers=1500"}));
  app_->update();
  if (panel().emulating) panel().emulating->cancelled = true;
  settle();
  EXPECT_EQ("layers=1500", text_from_changes(panel().answer->opened->changes));
}

TEST_F(WorkloadPanelTest, it_can_be_stopped_and_what_is_shown_is_wanted_then) {
  open("fsdp.json");
  give(change({"layers=2"}));
  app_->commands().push(change(takes_long));
  app_->update();
  ASSERT_NE(nullptr, panel().emulating);
  give(CommandId::stop_emulating);
  EXPECT_EQ(nullptr, panel().emulating);
  EXPECT_EQ("layers=2", text_from_changes(panel().answer->opened->changes));
  EXPECT_EQ("layers=2", text_from_changes(state().source()->what_if));
  EXPECT_FALSE(panel().error);
}

TEST_F(WorkloadPanelTest, a_change_of_one_side_leaves_the_other_as_it_is) {
  open("server.json");
  give(CommandId::split);
  ASSERT_TRUE(state().is_split());
  app_->commands().bind(1);
  app_->commands().push(change({"defragmentation=off"}));
  app_->commands().unbind();
  settle();
  ASSERT_EQ(2U, state().sources.size());
  const auto shown = [&](std::size_t side) { return state().find_source(state().contexts[side].position.source); };
  EXPECT_TRUE(shown(0)->workload->answer->verdict.fits);
  EXPECT_FALSE(shown(1)->workload->answer->verdict.fits);
  EXPECT_EQ("server.json", shown(0)->name());
  EXPECT_EQ("server.json (defragmentation=off)", shown(1)->name());
  const std::string command = open_command(state());
  EXPECT_NE(std::string::npos, command.find("--compare-what-if defragmentation=off")) << command;
}

TEST_F(WorkloadPanelTest, the_command_has_the_changes_and_opens_the_same) {
  open("decoder_training.json");
  give(change({"checkpointing=none", "donation=off"}));
  EXPECT_EQ("hbmscope tpu run " + shell_quote(samples + "decoder_training.json") +
                " --what-if checkpointing=none --what-if donation=off",
            workload_command(*state().source()));
  EXPECT_EQ(workload_command(*state().source()), report_command(state()));
  EXPECT_NE(std::string::npos, open_command(state()).find("--what-if checkpointing=none --what-if donation=off"));
  // Read again, it is what it was.
  give(CommandId::reload_file);
  EXPECT_EQ("checkpointing=none, donation=off", text_from_changes(panel().answer->opened->changes));
}

TEST_F(WorkloadPanelTest, a_value_as_it_is_written_is_no_change) {
  open("fsdp.json");
  const auto& knobs = panel().answer->opened->knobs;
  auto changes = with_change(knobs, {}, {"mesh.fsdp", "4"});
  changes = with_change(knobs, changes, {"generation", "v6e"});
  EXPECT_EQ("generation=v6e, mesh.fsdp=4", text_from_changes(changes)) << "in the order of the file";
  changes = with_change(knobs, changes, {"mesh.fsdp", "8"});
  EXPECT_EQ("generation=v6e", text_from_changes(changes));
  EXPECT_EQ("hbm", text_of_cell(panel().answer->memory, 0, 0));
}

TEST_F(WorkloadPanelTest, a_value_that_was_set_stays_where_a_formula_gives_the_same_now) {
  std::vector<WorkloadKnob> knobs(2);
  knobs[0] = {"batch", KnobKind::number, "8", {}, 1, 1024, false, 0};
  knobs[1] = {"tokens", KnobKind::number, "4096", {}, 1, 1 << 20, true, 0};  // As the changes make it.
  auto changes = with_change(knobs, {{"batch", "4"}}, {"tokens", "4096"});
  EXPECT_EQ("batch=4, tokens=4096", text_from_changes(changes));
  changes = with_change(knobs, changes, {"batch", "8"});
  EXPECT_EQ("tokens=4096", text_from_changes(changes));
  EXPECT_EQ("", text_from_changes(with_change(knobs, changes, {"tokens", ""}))) << "and is taken back";
}

TEST_F(WorkloadPanelTest, the_table_has_both_sides_of_every_row) {
  open("weights_in_vmem.json");
  give(change({"vmem.assignment=off"}));
  const Table& table = panel().answer->figures;
  const auto find = [&](const std::string& of, const std::string& name) {
    for (std::size_t row = 0; row < table.rows.size(); ++row)
      if (text_of_cell(table, row, 0) == of && text_of_cell(table, row, 1) == name)
        return text_of_cell(table, row, 2) + " | " + text_of_cell(table, row, 3);
    return std::string("no such row");
  };
  const auto rows = compute_tier_rows(*panel().answer->opened->unmodified);
  const auto vmem = std::find_if(rows.begin(), rows.end(), [](const TierRow& row) { return row.name == "vmem"; });
  ASSERT_NE(rows.end(), vmem);
  EXPECT_EQ(" | " + text_from_bytes(vmem->peak_bytes), find("vmem", "peak"));
  EXPECT_EQ(" | 96.0 MiB", find("program chain", "in VMEM"));
  EXPECT_TRUE(find("hbm", "peak").ends_with(" | " + text_from_bytes(rows.front().peak_bytes)));
}

TEST(SliderRange, is_of_powers_or_of_all_numbers_and_never_beyond_what_may_be) {
  const auto range = [](const char* written, std::int64_t least, std::int64_t most) {
    const SliderRange of = slider_range({"n", KnobKind::number, written, {}, least, most, false, 2});
    return std::vector<std::int64_t>{of.least, of.most, of.is_by_powers ? 1 : 0};
  };
  using Numbers = std::vector<std::int64_t>;
  constexpr std::int64_t most = std::int64_t{1} << 40;
  EXPECT_EQ((Numbers{8, 32768, 1}), range("512", -most, most));
  EXPECT_EQ((Numbers{512, 1 << 20, 1}), range("32768", 1, 1 << 20));
  EXPECT_EQ((Numbers{1, 16, 1}), range("16", 1, 16));
  EXPECT_EQ((Numbers{1, 48, 0}), range("12", -most, most));
  EXPECT_EQ((Numbers{1, 16, 0}), range("12", 1, 16));
  EXPECT_EQ((Numbers{0, 8, 0}), range("0", -most, most));
  EXPECT_EQ((Numbers{-20, 20, 0}), range("-5", -most, most));
  EXPECT_EQ((Numbers{0, 8, 0}), range("", 1, 64)) << "0: as written";
  EXPECT_EQ((Numbers{-1, 4, 0}), range("", 0, 4)) << "-1: the default";
}

TEST_F(WorkloadPanelTest, commands_of_a_workload_need_one) {
  EXPECT_FALSE(why_not(state(), CommandId::show_tpu).empty());
  open("fsdp.json");
  EXPECT_TRUE(why_not(state(), CommandId::show_tpu).empty());
}

}  // namespace
}  // namespace hbmscope::gui
