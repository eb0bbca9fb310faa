// The list of running jobs, by hand and by keys.
#include <algorithm>
#include <fstream>
#include <optional>

#include <imgui_internal.h>

#include "tests/gui/gui_test.h"
#include "tests/gui_core/pretend_hbmscope.h"

namespace hbmscope::test {
namespace {

using gui::CommandId;

class JobsView : public GuiTest {
 protected:
  static std::string listing() {
    std::string json = two_jobs;
    const std::string none = json_from("'device_files':[],'devices':[]"),
                      some = json_from("'device_files':[],'devices':[{'device':0,'bytes':70}]");
    json.replace(json.find(none), none.size(), some);
    return json;
  }
  void SetUp() override {
    GuiTest::SetUp();
    program_.emplace(path(""), listing());
  }
  void TearDown() override {
    GuiTest::TearDown();  // It may still start something.
    program_.reset();
  }
  void show_list(ImGuiTestContext& hand) {
    commands().push(CommandId::show_jobs);
    ASSERT_TRUE(wait_until(hand, [&] { return state().jobs.listing.has_value(); }));
    hand.Yield(2);
  }
  bool was_requested(const std::string& words) const { return program_->said().find(words) != std::string::npos; }

  std::optional<PretendHbmscope> program_;
};

TEST_F(JobsView, attaching_needs_a_confirmation) {
  run([&](ImGuiTestContext& hand) {
    show_list(hand);
    hand.ItemClick("//Attach to a running job/**/Attach...");
    ASSERT_TRUE(wait_until(hand, [&] { return state().jobs.is_asking; }));
    hand.Yield(2);
    take_picture_now(hand, "attach_question");
    hand.ItemClick("//Attach to a running job/**/Leave CUPTI to them (--no-cupti)");
    ASSERT_TRUE(wait_until(hand, [&] { return state().jobs.leaves_cupti; }));
    EXPECT_FALSE(was_requested("attach"));
    hand.ItemClick("//Attach to a running job/**/Attach");
    ASSERT_TRUE(wait_until(hand, [&] { return was_requested(".hbm --no-cupti\n"); }));
    EXPECT_TRUE(was_requested("attach 4711 --no-window"));
    EXPECT_FALSE(state().jobs.is_open);
  });
}

bool has_tooltip() {
  const ImGuiWindow* const shown = ImGui::FindWindowByName("##Tooltip_00");
  return shown != nullptr && shown->Active;
}

TEST_F(JobsView, tooltips_of_the_page_behind_stay_away_while_it_asks) {
  run([&](ImGuiTestContext& hand) {
    hand.Yield(2);
    const std::string button = "//hbmscope/**/Open folder...";
    const ImVec2 place = hand.ItemInfo(button.c_str()).RectFull.GetCenter();
    hand.MouseMoveToPos(place);
    EXPECT_TRUE(wait_until(hand, has_tooltip));
    hand.MouseMoveToPos({1, 1});
    show_list(hand);
    hand.ItemClick("//Attach to a running job/**/Attach...");
    ASSERT_TRUE(wait_until(hand, [&] { return state().jobs.is_asking; }));
    hand.MouseMoveToPos(place);
    for (int frame = 0; frame < 40; ++frame) {
      hand.Yield();
      ASSERT_FALSE(has_tooltip());
    }
    take_picture_now(hand, "attach_question_alone");
    hand.MouseClick();
    hand.Yield(2);
    EXPECT_TRUE(state().jobs.is_open) << "the page behind is out of reach";
    EXPECT_TRUE(state().window.dialog == gui::WindowState::Dialog::none);
    commands().push(CommandId::show_jobs);
  });
}

TEST_F(JobsView, the_list_stands_still_while_the_pointer_is_in_it) {
  std::string longer = listing();  // Another job comes first: it was started earlier.
  const std::string start = json_from("'jobs':[");
  longer.insert(longer.find(start) + start.size(),
                json_from("{'pid':5,'uid':0,'user':'ann','command':'early','frameworks':[],'has_cuda':true,"
                          "'has_pjrt':false,'is_annotated':false,'has_collector':false,'device_files':[],"
                          "'devices':[{'device':0,'bytes':9}],'observer':null,'can_attach':false,'refusal':'no',"
                          "'remedy':''},"));
  // The second list comes once the test allows it.
  program_->be("if [ $1 = ps ]; then\ncat <<'END'\n" + listing() + "\nEND\nuntil [ -e " + path("go") +
               " ]; do sleep 0.05; done\ncat <<'END'\n" + longer + "\nEND\nexec sleep 60\nfi\n");
  run([&](ImGuiTestContext& hand) {
    show_list(hand);
    const char* const list = "//Attach to a running job/**/Attach...";
    const ImRect before = hand.ItemInfo(list).RectFull;
    hand.MouseMove(list);
    std::ofstream(path("go")) << "";
    ASSERT_TRUE(wait_until(hand, [&] { return state().jobs.listing->jobs.size() == 3; }));
    hand.Yield(3);
    EXPECT_EQ(before.Min.y, hand.ItemInfo(list).RectFull.Min.y) << "a click meets the job that was aimed at";
    hand.MouseMoveToPos({1, 1});
    hand.Yield(3);
    EXPECT_NE(before.Min.y, hand.ItemInfo(list).RectFull.Min.y) << "the new one is above, away from the list";
  });
}

TEST_F(JobsView, totals_are_watched_of_one_that_may_be_attached_to_and_of_one_that_may_not) {
  run([&](ImGuiTestContext& hand) {
    show_list(hand);
    hand.ItemClick("//Attach to a running job/**/Totals");
    ASSERT_TRUE(wait_until(hand, [&] { return was_requested(".hbm --totals\n"); }));
    EXPECT_TRUE(was_requested("attach 12 "));
    show_list(hand);
    hand.ItemClick("//Attach to a running job/**/Attach...");
    ASSERT_TRUE(wait_until(hand, [&] { return state().jobs.is_asking; }));
    hand.ItemClick("//Attach to a running job/**/Totals only");
    ASSERT_TRUE(wait_until(hand, [&] { return was_requested("attach 4711 "); }));
    EXPECT_FALSE(was_requested("--no-cupti"));
    EXPECT_FALSE(state().jobs.is_asking);
  });
}

TEST_F(JobsView, keys_filter_choose_and_agree) {
  run([&](ImGuiTestContext& hand) {
    show_list(hand);
    hand.KeyChars("bob");
    ASSERT_TRUE(wait_until(hand, [&] { return state().jobs.filter == "bob"; }));
    for (int i = 0; i < 3; ++i) hand.KeyPress(ImGuiKey_Backspace);
    ASSERT_TRUE(wait_until(hand, [&] { return state().jobs.filter.empty(); }));
    hand.KeyPress(ImGuiKey_DownArrow);
    ASSERT_TRUE(wait_until(hand, [&] { return state().jobs.chosen == 4711; }));
    hand.KeyPress(ImGuiKey_UpArrow);
    ASSERT_TRUE(wait_until(hand, [&] { return state().jobs.chosen == 12; })) << "in the order of their numbers";
    hand.KeyPress(ImGuiKey_DownArrow);
    hand.KeyPress(ImGuiKey_Enter);
    ASSERT_TRUE(wait_until(hand, [&] { return state().jobs.is_asking; }));
    EXPECT_FALSE(was_requested("attach"));
    hand.KeyPress(ImGuiKey_Enter);
    ASSERT_TRUE(wait_until(hand, [&] { return was_requested("attach 4711 "); }));
  });
}

}  // namespace
}  // namespace hbmscope::test
