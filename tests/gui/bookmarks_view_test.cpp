// Bookmarks under a hand: M and a typed note, the list in Sources, its menu, the palette and the flag in the timeline.
#include <imgui_internal.h>

#include "app/gui/core/bookmarks.h"
#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::test {
namespace {

using gui::CommandId;
namespace command = gui::command;

class BookmarksView : public GuiTest {
 protected:
  void open_trace(ImGuiTestContext& hand) {
    SmallTrace trace;
    trace.region(0x10000000, 640 * mib);
    for (std::uint64_t i = 0; i < 10; ++i) trace.alloc(0x10000000 + i * 64 * mib, (i + 1) * mib, "forward");
    trace.write(path("small.hbm"));
    open(hand, {path("small.hbm")});
    commands().push(command::set_moment, gui::MomentName("#6"));
    ASSERT_TRUE(wait_until_idle(hand));
  }
  const std::vector<gui::Bookmark>& bookmarks() { return gui::bookmarks_of(state(), *state().source()); }
  std::string row(std::size_t i) { return "//Sources/**/$$" + std::to_string(bookmarks()[i].id) + "/###row"; }
};

TEST_F(BookmarksView, m_sets_one_whose_note_is_typed_and_a_click_goes_there) {
  run([&](ImGuiTestContext& hand) {
    open_trace(hand);
    hand.KeyPress(ImGuiKey_M);
    hand.Yield(3);
    hand.KeyChars("before the peak");
    take_picture_now(hand, "bookmark_note");
    hand.KeyPress(ImGuiKey_Enter);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_EQ(1U, bookmarks().size());
    EXPECT_EQ("before the peak", bookmarks()[0].note);
    hand.Yield(3);
    EXPECT_FALSE(ImGui::GetIO().NavVisible) << "the keys are the views' again";
    EXPECT_EQ(ImGui::FindWindowByName("Heap map"), ImGui::GetCurrentContext()->NavWindow);
    commands().push(CommandId::go_to_end);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.KeyPress(ImGuiKey_M);
    hand.Yield(3);
    hand.KeyChars("no");
    hand.KeyPress(ImGuiKey_Escape);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_EQ(2U, bookmarks().size());
    EXPECT_EQ("", bookmarks()[1].note);
    EXPECT_EQ("end", state().position().at.text());
    hand.ItemClick(row(0).c_str());
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("#6", state().position().at.text());
    hand.ItemClick(row(0).c_str(), ImGuiMouseButton_Right);
    hand.ItemClick("//$FOCUSED/Edit note");
    hand.Yield(3);
    hand.KeyCharsReplaceEnter("at the sixth");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("at the sixth", bookmarks()[0].note);
    hand.ItemClick(row(1).c_str(), ImGuiMouseButton_Right);
    hand.ItemClick("//$FOCUSED/Delete");
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_EQ(1U, bookmarks().size());
    EXPECT_EQ("at the sixth", bookmarks()[0].note);
  });
  take_picture("bookmarks");
}

TEST_F(BookmarksView, the_palette_finds_one_by_its_note) {
  run([&](ImGuiTestContext& hand) {
    open_trace(hand);
    commands().push(CommandId::set_bookmark);
    ASSERT_TRUE(wait_until_idle(hand));
    commands().push(command::note_bookmark, {bookmarks()[0].id, "zebra"});
    commands().push(CommandId::go_to_end);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
    hand.Yield(3);
    hand.KeyChars("zebra");
    hand.KeyPress(ImGuiKey_Enter);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("#6", state().position().at.text());
  });
}

}  // namespace
}  // namespace hbmscope::test
