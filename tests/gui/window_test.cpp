// Uses the window as a person does. Each test asserts the effect of a gesture on the state that all views read, or on
// the copied text, and leaves a picture in screenshots/ of the build tree.
#include <fstream>
#include <sstream>

#include "app/gui/core/answers.h"
#include "tests/gui/gui_test.h"
#include "tests/gui/synthetic_profile.h"

namespace hbmscope::test {
namespace {

using gui::AnswerState;
using gui::ViewKind;

class Window : public GuiTest {
 protected:
  std::string write_training() {
    write_synthetic_profile(path("step_100.pprof"), training_samples());
    return path("step_100.pprof");
  }
  std::string write_leaking() {
    write_synthetic_profile(path("step_200.pprof"), leaking_samples());
    return path("step_200.pprof");
  }

  // The table in front, as Ctrl+C gives it: rows of cells, without the header.
  std::vector<std::vector<std::string>> copy_rows(ImGuiTestContext& hand) {
    const auto copies = state().window.clipboard_serial;
    hand.KeyPress(ImGuiMod_Ctrl | ImGuiKey_C);
    EXPECT_TRUE(wait_until(hand, [&] { return state().window.clipboard_serial > copies; }));
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(state().window.clipboard);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      rows.emplace_back();
      std::istringstream cells(line);
      for (std::string cell; std::getline(cells, cell, '\t');) rows.back().push_back(cell);
    }
    return rows;
  }

  // The pixel in the middle of the box of a function in the flame graph.
  ImVec2 middle_of_box(ImGuiTestContext& hand, const std::string& function) {
    const auto answer = state().answers().flame.value;
    const ImGuiTestItemInfo picture = hand.ItemInfo("//Flame graph/**/frames");
    EXPECT_NE(picture.ID, 0U);
    for (std::size_t node = 1; node < answer->tree.nodes.size(); ++node) {
      const TreeNode& one = answer->tree.nodes[node];
      if (answer->view->frames[static_cast<std::size_t>(one.frame)].function != function) continue;
      const double middle = (answer->layout.begin[node] + answer->layout.end[node]) / 2;
      constexpr float row_height = 24;  // At a scale of 1.
      return {picture.RectFull.Min.x + static_cast<float>(middle) * picture.RectFull.GetWidth(),
              picture.RectFull.Min.y + (static_cast<float>(one.depth) + 0.5F) * row_height};
    }
    ADD_FAILURE() << function << " is not in the flame graph";
    return {};
  }

  void show(ImGuiTestContext& hand, ImGuiKey digit) {
    hand.KeyPress(ImGuiMod_Ctrl | digit);
    ASSERT_TRUE(wait_until_idle(hand));
  }
};

TEST_F(Window, first_launch_says_what_can_be_done) {
  run([&](ImGuiTestContext& hand) {
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(state().source(), nullptr);
    EXPECT_TRUE(state().sources.empty());
  });
  take_picture("first_launch");
}

TEST_F(Window, opened_profile_adds_up_on_every_device) {
  const std::string file = write_training();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    ASSERT_NE(state().source(), nullptr);
    EXPECT_EQ(state().source()->state, AnswerState::ready);
    ASSERT_EQ(state().source()->accounts.size(), 2U);
    EXPECT_EQ(state().source()->accounts[0].total.bytes, 576 * profile_mib);
    EXPECT_EQ(state().source()->accounts[1].total.bytes, 448 * profile_mib);
    EXPECT_EQ(state().source()->summary->total.bytes, 1024 * profile_mib);
    EXPECT_EQ(state().recent.at(0).path, file);
  });
  take_picture("summary");
}

TEST_F(Window, top_table_sorts_by_the_column_that_was_clicked) {
  const std::string file = write_training();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    show(hand, ImGuiKey_3);
    EXPECT_EQ(state().position().view, ViewKind::top);
    auto rows = copy_rows(hand);
    EXPECT_EQ(rows[0][3], "init_params") << "lines of your code come first";
    hand.ItemClick("//Top/All frames");
    ASSERT_TRUE(wait_until_idle(hand));
    rows = copy_rows(hand);
    ASSERT_EQ(rows.size(), 8U);
    EXPECT_EQ(rows[0][6], "init_params");
    EXPECT_EQ(rows[0][0], std::to_string(512 * profile_mib));

    hand.TableClickHeader("//Top/top", "Cumulative");
    rows = copy_rows(hand);
    EXPECT_EQ(rows[0][2], std::to_string(1024 * profile_mib));
    EXPECT_TRUE(rows[0][6] == "main" || rows[0][6] == "<module>") << rows[0][6];
    EXPECT_EQ(rows[2][2], std::to_string(512 * profile_mib));

    hand.TableClickHeader("//Top/top", "Function");
    rows = copy_rows(hand);
    for (std::size_t i = 1; i < rows.size(); ++i)
      EXPECT_GT(rows[0][6].compare(rows[i][6]) * rows[i - 1][6].compare(rows[i][6]), 0) << "in one direction";
    const bool descending = rows[0][6] == "train";
    hand.TableClickHeader("//Top/top", "Function");
    rows = copy_rows(hand);
    EXPECT_EQ(rows[0][6], descending ? "<module>" : "train");
  });
  take_picture("top_by_function");
}

TEST_F(Window, found_frames_are_marked_with_their_share) {
  const std::string file = write_training();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    show(hand, ImGuiKey_2);
    hand.KeyPress(ImGuiMod_Ctrl | ImGuiKey_F);
    hand.Yield(3);
    hand.KeyCharsReplaceEnter("LOSS");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(state().position().find, "LOSS");
    ASSERT_EQ(state().answers().search.state, AnswerState::ready);
    EXPECT_EQ(state().answers().search.value->search.matched.bytes, 192 * profile_mib);
    EXPECT_EQ(state().answers().search.value->search.matched.count, 3);
  });
  take_picture("flame_search");
}

TEST_F(Window, double_click_zooms_the_flame_graph_and_zero_fits_it) {
  const std::string file = write_training();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    show(hand, ImGuiKey_2);
    hand.MouseMoveToPos(middle_of_box(hand, "train"));
    hand.MouseDoubleClick();
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_EQ(state().position().zoom.size(), 3U);
    EXPECT_EQ(state().position().zoom.back().function, "train");
    EXPECT_EQ(state().position().selection.function, "train") << "nothing may jump under the pointer";
    hand.MouseMoveToPos({5, 5});
  });
  take_picture("flame_zoom");
  run([&](ImGuiTestContext& hand) {
    hand.KeyPress(ImGuiKey_0);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().position().zoom.empty());
  });
}

TEST_F(Window, frame_clicked_in_one_view_is_selected_in_all) {
  const std::string file = write_training();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    show(hand, ImGuiKey_2);
    hand.MouseMoveToPos(middle_of_box(hand, "make_batch"));
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(state().position().selection.function, "make_batch");
    ASSERT_EQ(state().answers().detail.state, AnswerState::ready);
    EXPECT_EQ(state().answers().detail.value->neighbours.self.flat.bytes, 256 * profile_mib);
    ASSERT_EQ(state().answers().detail.value->neighbours.callers.size(), 1U);
  });
  take_picture("selection");
  run([&](ImGuiTestContext& hand) {
    hand.KeyPress(ImGuiKey_Escape);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().position().selection.empty());
  });
}

TEST_F(Window, tooltip_appears_when_the_pointer_rests_on_a_frame) {
  const std::string file = write_training();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    show(hand, ImGuiKey_2);
    const ImVec2 loss = middle_of_box(hand, "loss");
    hand.MouseMoveToPos(loss);
    hand.SleepNoSkip(1.0F, 0.05F);
    EXPECT_TRUE(wait_until(hand, [] {
      for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
        if (window->Active && (window->Flags & ImGuiWindowFlags_Tooltip) != 0) return true;
      return false;
    }));
    take_picture_now(hand, "flame_tooltip");
  });
}

TEST_F(Window, diff_names_what_grew_what_is_new_and_what_shrank) {
  const std::string before = write_training(), after = write_leaking();
  run([&](ImGuiTestContext& hand) {
    open(hand, {after});
    commands().push(gui::command::open_baseline_path, before);
    ASSERT_TRUE(wait_until_idle(hand));
    show(hand, ImGuiKey_5);
    EXPECT_EQ(state().position().view, ViewKind::diff);
    ASSERT_EQ(state().answers().diff.state, AnswerState::ready);
    const ProfileDiff& diff = *state().answers().diff.value;
    EXPECT_EQ(diff.now.bytes - diff.baseline.bytes, 128 * profile_mib);
    ASSERT_GE(diff.stacks.size(), 2U);
    EXPECT_EQ(diff.stacks[0].change, Change::added);
    EXPECT_EQ(diff.stacks[0].delta_bytes(), 256 * profile_mib);
    EXPECT_EQ(diff.stacks[1].change, Change::shrunk);
    EXPECT_EQ(diff.stacks[1].delta_bytes(), -128 * profile_mib);
    EXPECT_EQ(diff.unmatched_bytes, 256 * profile_mib);
  });
  take_picture("diff");
  run([&](ImGuiTestContext& hand) {
    commands().push(gui::CommandId::swap_baseline);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(state().answers().diff.value->now.bytes - state().answers().diff.value->baseline.bytes,
              -128 * profile_mib);
  });
}

TEST_F(Window, totals_of_several_files_are_a_series) {
  const std::string before = write_training(), after = write_leaking();
  run([&](ImGuiTestContext& hand) {
    open(hand, {before, after});
    EXPECT_EQ(state().ready_sources(), 2U);
    EXPECT_EQ(state().position().view, ViewKind::totals) << "it is in front";
    ASSERT_EQ(state().answers().series.state, AnswerState::ready);
    ASSERT_EQ(state().answers().series.value->points.size(), 2U);
    EXPECT_EQ(state().answers().series.value->points.at(1).total.bytes, 1152 * profile_mib);
  });
  take_picture("totals");
}

TEST_F(Window, palette_finds_a_command_by_a_few_letters_and_runs_it) {
  const std::string file = write_training();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    hand.KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
    ASSERT_TRUE(wait_until(hand, [&] { return state().window.palette_open; }));
    hand.Yield(3);
    hand.KeyChars("callt");
    hand.Yield(3);
  });
  take_picture("palette");
  run([&](ImGuiTestContext& hand) {
    hand.KeyPress(ImGuiKey_Enter);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_FALSE(state().window.palette_open);
    EXPECT_EQ(state().position().view, ViewKind::call_tree);
  });
  take_picture("call_tree");
}

TEST_F(Window, bad_file_says_what_is_wrong_and_the_next_one_still_opens) {
  std::ofstream(path("notes.pprof")) << "this is a text, not a profile\n";
  const std::string good = write_training();
  run([&](ImGuiTestContext& hand) {
    open(hand, {path("notes.pprof")});
    ASSERT_EQ(state().sources.size(), 1U);
    EXPECT_EQ(state().sources[0].state, AnswerState::failed);
    EXPECT_EQ(state().sources[0].error.file, path("notes.pprof"));
    EXPECT_FALSE(state().sources[0].error.what.empty());
    EXPECT_FALSE(state().sources[0].error.remedy.empty());
  });
  take_picture("bad_file");
  run([&](ImGuiTestContext& hand) {
    open(hand, {good});
    EXPECT_EQ(state().ready_sources(), 1U);
    ASSERT_NE(state().source(), nullptr);
    EXPECT_EQ(state().source()->path, good);
  });
}

TEST_F(Window, bad_filter_keeps_the_picture_and_says_where_it_is_wrong) {
  const std::string file = write_training();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    show(hand, ImGuiKey_3);
    hand.KeyPress(ImGuiMod_Ctrl | ImGuiKey_L);
    hand.Yield(3);
    hand.KeyCharsReplaceEnter("size>");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(state().position().request.where, "") << "half a filter is not applied";
    hand.MouseMove("//hbmscope/**/##filter");
    hand.SleepNoSkip(1.0F, 0.05F);
    take_picture_now(hand, "bad_filter");
  });
  run([&](ImGuiTestContext& hand) {
    commands().push(gui::command::set_filter, "size>");  // As passed by --where.
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(state().answers().view.state, AnswerState::failed);
    EXPECT_TRUE(state().answers().view.error.offset.has_value());
    ASSERT_NE(state().answers().view.value, nullptr) << "the answer before stays";
    EXPECT_EQ(state().answers().view.value->selected.bytes, 1024 * profile_mib);
  });
  run([&](ImGuiTestContext& hand) {
    hand.KeyPress(ImGuiMod_Ctrl | ImGuiKey_L);
    hand.Yield(3);
    hand.KeyCharsReplaceEnter("device:1");
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_EQ(state().answers().view.state, AnswerState::ready);
    EXPECT_EQ(state().answers().view.value->selected.bytes, 448 * profile_mib);
  });
  take_picture("filter");
}

TEST_F(Window, menu_switches_the_theme) {
  const std::string file = write_training();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    EXPECT_EQ(state().settings.theme, gui::Theme::dark);
    const ImVec4 dark = ImGui::GetStyle().Colors[ImGuiCol_WindowBg];
    hand.MenuClick("//hbmscope/View/Toggle theme");
    hand.Yield(2);
    EXPECT_EQ(state().settings.theme, gui::Theme::light);
    EXPECT_GT(ImGui::GetStyle().Colors[ImGuiCol_WindowBg].x, dark.x + 0.5F);
  });
  take_picture("light_theme");
}

TEST_F(Window, alt_left_undoes_view_selection_and_filter_one_by_one) {
  const std::string file = write_training();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    const ViewKind first = state().position().view;
    show(hand, ImGuiKey_3);
    commands().push(gui::command::select_function, "loss");
    ASSERT_TRUE(wait_until_idle(hand));
    commands().push(gui::command::set_filter, "kind:buffer");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(state().answers().view.value->selected.bytes, 960 * profile_mib);

    const auto back = [&] {
      hand.KeyPress(ImGuiMod_Alt | ImGuiKey_LeftArrow);
      ASSERT_TRUE(wait_until_idle(hand));
    };
    back();
    EXPECT_EQ(state().position().request.where, "");
    EXPECT_EQ(state().answers().view.value->selected.bytes, 1024 * profile_mib);
    EXPECT_EQ(state().position().selection.function, "loss");
    back();
    EXPECT_TRUE(state().position().selection.empty());
    EXPECT_EQ(state().position().view, ViewKind::top);
    back();
    EXPECT_EQ(state().position().view, first);
    hand.KeyPress(ImGuiMod_Alt | ImGuiKey_RightArrow, 3);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(state().position().request.where, "kind:buffer");
  });
}

TEST_F(Window, copied_command_names_file_view_selection_and_filter) {
  const std::string file = write_training();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    show(hand, ImGuiKey_2);
    commands().push(gui::command::select_function, "loss");
    commands().push(gui::command::set_filter, "device:1");
    ASSERT_TRUE(wait_until_idle(hand));
    hand.KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_C);
    hand.Yield(3);
    const std::string command = state().window.clipboard;
    EXPECT_EQ(command.rfind("hbmscope open ", 0), 0U) << command;
    for (const char* part : {"step_100.pprof", "--view flame", "--select loss", "--where device:1"})
      EXPECT_NE(command.find(part), std::string::npos) << command;
    EXPECT_EQ(command, ImGui::GetClipboardText());
  });
}

TEST_F(Window, text_grows_to_twice_its_size_and_no_further) {
  const std::string file = write_training();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    const float before = ImGui::GetFontSize();
    for (int i = 0; i < 30; ++i) commands().push(gui::CommandId::text_larger);
    hand.Yield(3);
    EXPECT_DOUBLE_EQ(state().settings.text_scale, 2.0);
    EXPECT_FLOAT_EQ(ImGui::GetFontSize(), 2 * before);
    ASSERT_TRUE(wait_until_idle(hand));
  });
  take_picture("text_200_percent");
}

}  // namespace
}  // namespace hbmscope::test
