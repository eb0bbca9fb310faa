// The window at 200 %, where half as much has room: what has to be read is there, and nothing important is cut.
#include <algorithm>
#include <string_view>

#include <imgui_internal.h>

#include "app/gui/core/answers.h"
#include "app/gui/platform/window.h"
#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::test {
namespace {

using gui::CommandId;
namespace command = gui::command;

class LargeText : public GuiTest {
 protected:
  // More lines of code than a legend has colours for; those that share the last one have most bytes together.
  std::string write_trace() {
    SmallTrace trace;
    trace.region(0x10000000, 64 * 64 * mib);
    for (std::uint64_t i = 0; i < 40; ++i)
      trace.alloc(0x10000000 + i * 64 * mib, (i < 8 ? 24 : 20) * mib, "layer_number_" + std::to_string(i));
    for (std::uint64_t i = 32; i < 40; ++i) trace.free(0x10000000 + i * 64 * mib);
    trace.write(path("layers.hbm"));
    return path("layers.hbm");
  }
  void open_large(ImGuiTestContext& hand, const std::string& file) {
    for (int i = 0; i < 30; ++i) commands().push(CommandId::text_larger);
    hand.Yield(3);
    open(hand, {file});
    commands().push(CommandId::reset_layout);
    hand.Yield(8);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_DOUBLE_EQ(2.0, state().settings.text_scale);
  }
  void show(ImGuiTestContext& hand, CommandId view) {
    commands().push(view);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(5);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(3);
  }
  // How wide a column of a table that is drawn now is, in px at 100 %; 0: it is left out; none: there is no such
  // column.
  static std::optional<float> width_of(std::string_view title) {
    ImGuiContext& context = *ImGui::GetCurrentContext();
    for (int i = 0; i < context.Tables.GetMapSize(); ++i) {
      const ImGuiTable* table = context.Tables.TryGetMapData(i);
      if (table == nullptr || table->LastFrameActive + 1 < context.FrameCount) continue;
      for (int column = 0; column < table->ColumnsCount; ++column)
        if (ImGui::TableGetColumnName(table, column) == title)
          return table->Columns[column].IsEnabled ? table->Columns[column].WidthGiven / 2 : 0;
    }
    return std::nullopt;
  }
};

TEST_F(LargeText, tables_leave_out_columns_until_names_can_be_read) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open_large(hand, file);
    show(hand, CommandId::show_blocks);
    EXPECT_GE(width_of("Allocated by").value_or(0), 120);
    EXPECT_GT(width_of("Size").value_or(0), 60) << "the blocks are sorted by it";
    EXPECT_EQ(0, width_of("Requested"));
    show(hand, CommandId::show_top);
    EXPECT_GE(width_of("Your code").value_or(0), 100);
    show(hand, CommandId::show_call_tree);
    EXPECT_GE(width_of("Frame").value_or(0), 150);
    show(hand, CommandId::show_events);
    EXPECT_GE(width_of("Your code").value_or(0), 90);
    // When there is room again they come back.
    show(hand, CommandId::show_blocks);
    for (int i = 0; i < 30; ++i) commands().push(CommandId::text_smaller);
    hand.Yield(3);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_GT(width_of("Requested").value_or(0), 0);
  });
}

TEST_F(LargeText, the_tab_in_front_is_in_sight) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open_large(hand, file);
    for (const CommandId view : {CommandId::show_import, CommandId::show_blocks, CommandId::show_summary}) {
      show(hand, view);
      const ImGuiWindow* window = ImGui::FindWindowByName(gui::row_of(state().position().view).title);
      ASSERT_NE(nullptr, window);
      const ImGuiTabBar& bar = *window->DockNode->TabBar;
      ASSERT_EQ(window->TabId, bar.VisibleTabId);
      const ImGuiTabItem* tab = std::find_if(bar.Tabs.begin(), bar.Tabs.end(),
                                             [&](const ImGuiTabItem& one) { return one.ID == window->TabId; });
      ASSERT_NE(bar.Tabs.end(), tab);
      EXPECT_GE(tab->Offset - bar.ScrollingAnim, 0) << window->Name;
      EXPECT_LE(tab->Offset - bar.ScrollingAnim + tab->Width, bar.BarRect.GetWidth()) << window->Name;
    }
  });
}

TEST_F(LargeText, a_short_legend_names_what_holds_most) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open_large(hand, file);
    commands().push(command::set_coloring, gui::HeapColoring::user_code);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(3);
    const auto& legend = state().answers().heap_map.value->spans.legend;
    const auto most =
        std::max_element(legend.begin(), legend.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
    ASSERT_NE(legend.begin(), most) << "it is the last: what has no colour of its own";
    EXPECT_TRUE(hand.ItemExists(("//Heap map/**/" + most->name).c_str())) << most->name;
    EXPECT_FALSE(hand.ItemExists(("//Heap map/**/" + legend[legend.size() - 2].name).c_str())) << "there is no room";
  });
  take_picture("large_text");
}

TEST_F(LargeText, the_flame_graph_of_a_profile_has_all_of_the_width) {
  run([&](ImGuiTestContext& hand) {
    open_large(hand, HBMSCOPE_SAMPLES "/leak_step_200.pprof.gz");
    show(hand, CommandId::show_flame);
    const ImRect frames = hand.ItemInfo("//Flame graph/**/frames").RectFull;
    EXPECT_GT(frames.GetWidth(), ImGui::GetIO().DisplaySize.x / 2);
    EXPECT_GT(frames.GetHeight(), 3 * ImGui::GetFrameHeight());
  });
  take_picture("large_text_flame_graph");
}

}  // namespace
}  // namespace hbmscope::test
