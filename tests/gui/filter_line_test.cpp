// The filter line under a hand that types: completions by keys and by a click, and earlier filters.
#include <imgui_internal.h>

#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::test {
namespace {

using gui::CommandId;
namespace command = gui::command;

class FilterLine : public GuiTest {
 protected:
  void open_trace(ImGuiTestContext& hand) {
    SmallTrace trace;
    trace.region(0x10000000, 640 * mib);
    for (std::uint64_t i = 0; i < 10; ++i)
      trace.alloc(0x10000000 + i * 64 * mib, (i + 1) * mib, i % 2 == 0 ? "forward" : "backward");
    trace.write(path("small.hbm"));
    open(hand, {path("small.hbm")});
  }
  void type(ImGuiTestContext& hand, const char* text) {
    hand.KeyPress(ImGuiMod_Ctrl | ImGuiKey_L);
    hand.Yield(3);
    hand.KeyCharsReplace(text);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(2);
  }
  bool has_list() {
    const ImGuiWindow* list = ImGui::FindWindowByName("Offers");
    return list != nullptr && list->WasActive;
  }
  const std::string& filter() const { return state().position().request.where; }
};

TEST_F(FilterLine, a_field_and_a_value_are_taken_by_keys_and_enter_applies_them) {
  run([&](ImGuiTestContext& hand) {
    open_trace(hand);
    type(hand, "ow");
    EXPECT_TRUE(has_list());
    hand.KeyPress(ImGuiKey_Tab);  // own:
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(2);
    EXPECT_TRUE(has_list());
    take_picture_now(hand, "filter_offers");
    hand.KeyPress(ImGuiKey_DownArrow);  // The larger one, backward,
    hand.KeyPress(ImGuiKey_DownArrow);  // and forward.
    hand.KeyPress(ImGuiKey_Enter);
    hand.Yield(2);
    EXPECT_FALSE(has_list());
    EXPECT_EQ("", filter()) << "taken, not applied yet";
    hand.KeyPress(ImGuiKey_Enter);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("own:\"forward  train.py:10\"", filter());
  });
}

TEST_F(FilterLine, escape_closes_the_list_first_and_enter_applies_what_was_typed) {
  run([&](ImGuiTestContext& hand) {
    open_trace(hand);
    type(hand, "stack:f");
    EXPECT_TRUE(has_list());
    hand.KeyPress(ImGuiKey_Escape);
    hand.Yield(2);
    EXPECT_FALSE(has_list());
    hand.KeyPress(ImGuiKey_Enter);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("stack:f", filter());
    EXPECT_FALSE(has_list());
    EXPECT_TRUE(ImGui::GetIO().WantTextInput) << "the next word goes into the field, not to the keys of the views";
    type(hand, "stack:b");
    hand.KeyPress(ImGuiKey_Enter);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("stack:b", filter()) << "nothing was chosen in the list";
  });
}

TEST_F(FilterLine, earlier_filters_are_offered_for_an_empty_field_and_kept_between_starts) {
  run([&](ImGuiTestContext& hand) {
    open_trace(hand);
    commands().push(command::set_filter, "size>3MiB");
    commands().push(command::set_filter, "stack:forward");
    commands().push(CommandId::clear_filter);
    ASSERT_TRUE(wait_until_idle(hand));
    type(hand, "");
    hand.KeyPress(ImGuiKey_DownArrow);
    hand.KeyPress(ImGuiKey_DownArrow);
    take_picture_now(hand, "filter_history");
    hand.KeyPress(ImGuiKey_Enter);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("size>3MiB", filter()) << "a whole filter is applied at once";
    commands().push(CommandId::clear_filter);
    ASSERT_TRUE(wait_until_idle(hand));
    type(hand, "");
    hand.ItemClick("//Offers/$$1/##offer");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("stack:forward", filter());
  });
  EXPECT_EQ((std::vector<std::string>{"stack:forward", "size>3MiB"}), gui::App([] {}).state().filters);
}

TEST_F(FilterLine, a_click_on_a_field_leads_to_its_values) {
  run([&](ImGuiTestContext& hand) {
    open_trace(hand);
    type(hand, "own");
    hand.ItemClick("//Offers/$$0/##offer");
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(4);
    EXPECT_TRUE(has_list());
    hand.ItemClick("//Offers/$$1/##offer");
    hand.Yield(4);
    EXPECT_EQ("", filter());
    hand.KeyPress(ImGuiKey_Enter);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("own:\"forward  train.py:10\"", filter());
  });
}

}  // namespace
}  // namespace hbmscope::test
