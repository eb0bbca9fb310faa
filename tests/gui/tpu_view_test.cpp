// An emulated TPU workload under a hand: opened, changed by its controls, and its arrays' tiles.
#include <imgui_internal.h>

#include <algorithm>
#include <fstream>

#include "app/gui/core/answers.h"
#include "app/gui/core/span_text.h"
#include "app/gui/views/tile_picture/tile_picture.h"
#include "tests/gui/gui_test.h"

namespace hbmscope::test {
namespace {

using gui::CommandId;
namespace command = gui::command;
using gui::ViewKind;

const std::string samples = HBMSCOPE_SAMPLES "/tpu/";

class TpuView : public GuiTest {
 protected:
  void open_sample(ImGuiTestContext& hand, const std::string& name) {
    open(hand, {samples + name});
    ASSERT_NE(nullptr, state().source());
    ASSERT_TRUE(state().source()->workload) << state().source()->error.text();
  }
  const gui::WorkloadAnswer& answer() const { return *state().source()->workload->answer; }
  // Items are named as they are among the controls.
  void be_in_controls(ImGuiTestContext& hand) {
    commands().push(CommandId::show_tpu);
    ASSERT_TRUE(wait_until_idle(hand));
    const ImGuiTestItemInfo body = hand.WindowInfo("//TPU/body");
    ASSERT_NE(nullptr, body.Window);
    const ImGuiTestItemInfo controls = hand.WindowInfo("//TPU/body/controls");
    ASSERT_NE(nullptr, controls.Window);
    hand.SetRef(controls.Window);
  }
};

TEST_F(TpuView, a_workload_opens_with_its_verdict_in_front) {
  run([&](ImGuiTestContext& hand) {
    open_sample(hand, "matmul_buffers.json");
    EXPECT_TRUE(answer().verdict.fits);
    const ImGuiTestItemInfo tab = hand.WindowInfo("//TPU");
    ASSERT_NE(nullptr, tab.Window);
    EXPECT_TRUE(tab.Window->DockTabIsVisible);
    EXPECT_NE(nullptr, state().answers().heap_map.value) << "and the heap map over it";
  });
  take_picture("tpu_panel");
}

TEST_F(TpuView, another_generation_is_chosen_and_the_words_say_why_it_does_not_fit) {
  run([&](ImGuiTestContext& hand) {
    open_sample(hand, "fsdp.json");
    be_in_controls(hand);
    hand.ItemClick("knobs/generation/##choice");
    const ImGuiWindow* const popup = hand.GetWindowByRef("//$FOCUSED");
    ASSERT_NE(nullptr, popup);
    hand.ItemClick((std::string("//") + popup->Name + "/**/v2").c_str());
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("generation=v2", gui::text_from_changes(answer().opened->changes));
    ASSERT_FALSE(answer().verdict.fits);
    EXPECT_NE(std::string::npos, answer().verdict.reasons[0].sentence.find("over by"));
    EXPECT_TRUE(gui::view_exists(state(), ViewKind::failure));
    commands().push(CommandId::copy_as_text);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_NE(std::string::npos, state().window.clipboard.find("does not fit:")) << state().window.clipboard;
  });
  take_picture("tpu_does_not_fit");
}

TEST_F(TpuView, numbers_are_typed_and_switches_are_clicked) {
  run([&](ImGuiTestContext& hand) {
    open_sample(hand, "fsdp.json");
    be_in_controls(hand);
    hand.ItemInputValue("**/mesh.fsdp/##number", 4);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("mesh.fsdp=4", gui::text_from_changes(state().source()->what_if));
    hand.ItemClick("**/donation/on##switch");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("mesh.fsdp=4, donation=off", gui::text_from_changes(answer().opened->changes));
    hand.SetRef("TPU");
    hand.ItemClick("Copy command");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_NE(std::string::npos,
              state().window.clipboard.find("fsdp.json --what-if mesh.fsdp=4 --what-if donation=off"));
    hand.ItemClick("Undo changes");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(answer().opened->changes.empty());
    EXPECT_TRUE(answer().verdict.fits);
  });
}

TEST_F(TpuView, an_impossible_change_is_explained_next_to_the_last_answer) {
  run([&](ImGuiTestContext& hand) {
    open_sample(hand, "matmul_buffers.json");
    be_in_controls(hand);
    hand.ItemInputValue("**/block/##number", 0);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().source()->workload->error);
    EXPECT_TRUE(answer().opened->changes.empty());
  });
  take_picture("tpu_refused");
}

TEST_F(TpuView, a_broken_workload_says_the_line) {
  std::ofstream(path("broken.json")) << "{\"hbmscope_tpu_workload\": 1,\n \"generation\": \"v99\"}";
  run([&](ImGuiTestContext& hand) {
    open(hand, {path("broken.json")});
    ASSERT_EQ(gui::AnswerState::failed, state().source()->state);
    EXPECT_NE(std::string::npos, state().source()->error.text().find("line 2 (generation)"));
  });
  take_picture("tpu_broken");
}

TEST_F(TpuView, the_inspector_shows_the_tiles_of_an_array) {
  run([&](ImGuiTestContext& hand) {
    open_sample(hand, "embedding.json");
    commands().push(command::choose_heap_named, "HBM");
    ASSERT_TRUE(wait_until_idle(hand));
    const auto& spans = state().answers().heap_map.value->spans.spans;
    const auto block = std::find_if(spans.begin(), spans.end(), [](const gui::HeapSpan& span) {
      return span.kind == gui::SpanKind::block && span.waste > 0;
    });
    ASSERT_NE(spans.end(), block);
    commands().push(command::select_address, {block->begin});
    ASSERT_TRUE(wait_until_idle(hand));
    hand.SetRef("Inspector");
    ASSERT_TRUE(hand.ItemExists("Larger"));
    hand.ItemClick("Larger");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_FALSE(state().window.tiles.empty());
    hand.KeyPress(ImGuiKey_Escape);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().window.tiles.empty());
  });
  take_picture("tpu_inspector");
}

// The picture that `tpu layout --picture` writes, counted pixel by pixel as the window shows it.
TEST_F(TpuView, the_pixels_of_a_picture_have_the_share_of_the_padding) {
  const std::string layout = "f32[100,200]{1,0:T(8,128)}";
  ImRect rect;
  run([&](ImGuiTestContext& hand) {
    commands().push(command::show_tiles, layout);
    ASSERT_TRUE(wait_until_idle(hand));
    rect = hand.ItemInfo("//hbmscope/**/tiles").RectFull;
  });
  const gui::Picture picture = settled_picture();
  const auto ink = gui::tile_ink(state().settings.theme);
  std::int64_t data = 0, padding = 0, other = 0;
  for (auto y = static_cast<int>(rect.Min.y); y < static_cast<int>(rect.Max.y); ++y)
    for (auto x = static_cast<int>(rect.Min.x); x < static_cast<int>(rect.Max.x); ++x) {
      const std::uint8_t* const rgb = picture.rgb.data() + static_cast<std::size_t>((y * picture.width + x) * 3);
      const gui::Pixel pixel = gui::pixel_from_color({rgb[0], rgb[1], rgb[2]});
      const bool is_data = pixel == ink.data || pixel == ink.data_line;
      const bool is_padding = pixel == ink.padding || pixel == ink.padding_gap || pixel == ink.padding_line;
      ++(is_data ? data : is_padding ? padding : other);
    }
  const auto grid = compute_tile_grid(layout);
  const double share = static_cast<double>(grid->padding_bytes()) / static_cast<double>(grid->bytes);
  EXPECT_EQ(0, other);
  ASSERT_GT(data, 10000);
  EXPECT_NEAR(share * static_cast<double>(data + padding), static_cast<double>(padding),
              (rect.GetWidth() + rect.GetHeight()) / 2);
  take_picture("tpu_tiles");
}

}  // namespace
}  // namespace hbmscope::test
