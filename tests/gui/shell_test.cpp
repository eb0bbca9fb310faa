// What is around the views: keys, dialogs, help, the palette.
#include <imgui_internal.h>

#include <filesystem>
#include <fstream>

#include "app/gui/look/icons.h"
#include "app/gui/shell/keys.h"
#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::test {
namespace {

using gui::CommandId;
using gui::WindowState;

// ImGui alone, so that several events can arrive within one frame.
class Keys : public ::testing::Test {
 protected:
  Keys() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {100, 100};
    io.IniFilename = nullptr;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
    frame();
  }
  ~Keys() override { ImGui::DestroyContext(); }
  std::vector<CommandId> frame() {
    gui::CommandQueue commands;
    ImGui::NewFrame();
    gui::handle_keys(commands);
    ImGui::EndFrame();
    std::vector<CommandId> ids;
    for (const gui::Command& command : commands.take_commands()) ids.push_back(command.id);
    return ids;
  }
  static void modify(bool is_down) {
    ImGuiIO& io = ImGui::GetIO();
    for (const ImGuiKey key : {ImGuiKey_LeftCtrl, ImGuiKey_LeftShift}) io.AddKeyEvent(key, is_down);
    for (const ImGuiKey key : {ImGuiMod_Ctrl, ImGuiMod_Shift}) io.AddKeyEvent(key, is_down);
  }
};

TEST_F(Keys, a_chord_that_is_over_before_the_frame_is_still_that_chord) {
  modify(true);
  frame();
  ImGui::GetIO().AddKeyEvent(ImGuiKey_P, true);
  modify(false);  // Ctrl and Shift are released first,
  ImGui::GetIO().AddKeyEvent(ImGuiKey_P, false);
  EXPECT_EQ(frame(), std::vector<CommandId>{CommandId::palette}) << "and P alone must not go to the peak";
  EXPECT_EQ(frame(), std::vector<CommandId>{});
  ImGui::GetIO().AddKeyEvent(ImGuiKey_P, true);
  EXPECT_EQ(frame(), std::vector<CommandId>{CommandId::go_to_peak});
}

class Shell : public GuiTest {
 protected:
  void open_trace(ImGuiTestContext& hand) {
    SmallTrace trace;
    trace.region(0x10000000, 640 * mib);
    for (std::uint64_t i = 0; i < 6; ++i)
      trace.alloc(0x10000000 + i * 64 * mib, (i + 1) * mib, i % 2 == 0 ? "keep_history" : "backward");
    trace.write(path("small.hbm"));
    open(hand, {path("small.hbm")});
  }
  static const ImGuiWindow* window(const char* name) {
    const ImGuiWindow* found = ImGui::FindWindowByName(name);
    return found != nullptr && found->WasActive ? found : nullptr;
  }
};

TEST_F(Shell, every_icon_is_in_the_font_of_texts) {
  run([&](ImGuiTestContext& hand) {
    hand.Yield();
    using namespace gui::icon;
    for (const char* icon :
         {close, left, right, play, pause, pin, warning, folder, open_folder, file, home, recent, up}) {
      unsigned int letter = 0;
      ImTextCharFromUtf8(&letter, icon, nullptr);
      EXPECT_TRUE(ImGui::GetFont()->IsGlyphInFont(static_cast<ImWchar>(letter))) << std::hex << letter;
    }
  });
}

TEST_F(Shell, help_has_pages_for_keys_terms_and_the_program) {
  run([&](ImGuiTestContext& hand) {
    commands().push(CommandId::terms);
    hand.Yield(4);
    ASSERT_NE(nullptr, window("Help"));
    take_picture_now(hand, "help_terms");
    commands().push(CommandId::about);
    hand.Yield(4);
    hand.ItemClick("//Help/**/Copy a problem report");
    hand.Yield(2);
    EXPECT_TRUE(state().window.clipboard.find("OpenGL") != std::string::npos) << state().window.clipboard;
    commands().push(CommandId::escape);
    hand.Yield(3);
    EXPECT_EQ(nullptr, window("Help"));
    commands().push(CommandId::help);
    hand.Yield(4);
    EXPECT_TRUE(ImGui::GetIO().WantTextInput) << "what is typed is searched for";
    hand.KeyPress(ImGuiKey_Escape);
    hand.Yield(3);
    EXPECT_EQ(nullptr, window("Help"));
  });
}

TEST_F(Shell, settings_change_theme_text_and_editor) {
  run([&](ImGuiTestContext& hand) {
    commands().push(CommandId::settings);
    hand.Yield(4);
    hand.ItemClick("//Settings/Light");
    hand.Yield(2);
    EXPECT_EQ(gui::Theme::light, state().settings.theme);
    hand.ItemClick("//Settings/Larger");
    hand.Yield(4);
    EXPECT_DOUBLE_EQ(1.25, state().settings.text_scale);
    hand.ItemClick("//Settings/##editor");
    hand.KeyCharsReplaceEnter("kate");
    hand.Yield(3);
    EXPECT_EQ("kate -l LINE FILE", state().editor);
    take_picture_now(hand, "settings");
    hand.ItemClick("//Settings/Close");
    hand.Yield(2);
    EXPECT_FALSE(state().window.settings_open);
  });
}

TEST_F(Shell, file_dialog_sorts_finds_by_letters_and_shows_hidden_files) {
  for (const char* name : {"a.hbm", "train.log", "notes.xyz", "big.pprof"})
    std::ofstream(path(name)) << std::string(name);
  std::filesystem::create_directories(path("runs"));
  run([&](ImGuiTestContext& hand) {
    commands().push(CommandId::open_file);
    commands().push(gui::command::list_folder, path(""));
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(4);
    EXPECT_TRUE(hand.ItemExists("//###files/entries/###a.hbm") || hand.ItemExists("//###files/**/###a.hbm"));
    EXPECT_FALSE(hand.ItemExists("//###files/**/###notes.xyz"));
    hand.ItemClick("//###files/**/###all");
    hand.Yield(3);
    EXPECT_TRUE(hand.ItemExists("//###files/**/###notes.xyz"));
    take_picture_now(hand, "file_dialog");
    hand.KeyChars("tr");
    hand.Yield(3);
    hand.ItemClick("//###files/**/Open");
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_EQ(1U, state().sources.size());
    EXPECT_EQ("train.log", state().sources[0].name());
  });
}

TEST_F(Shell, palette_is_as_high_as_its_hits_and_finds_lines_of_code) {
  run([&](ImGuiTestContext& hand) {
    open_trace(hand);
    commands().push(CommandId::palette);
    ASSERT_TRUE(wait_until(hand, [&] { return window("Command palette") != nullptr; }));
    hand.Yield(4);
    const float whole = window("Command palette")->Size.y;
    hand.KeyChars("keep_h");
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(4);
    EXPECT_LT(window("Command palette")->Size.y, whole / 2);
    take_picture_now(hand, "palette_of_code");
    hand.KeyPress(ImGuiKey_Enter);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().position().request.where.starts_with("own=")) << state().position().request.where;
    commands().push(CommandId::palette);
    hand.Yield(3);
    hand.KeyChars("toggle theme");
    hand.KeyPress(ImGuiKey_Enter);
    hand.Yield(3);
    EXPECT_EQ(gui::Theme::light, state().settings.theme);
    commands().push(CommandId::palette);
    hand.Yield(4);
    hand.KeyPress(ImGuiKey_Enter);  // The last one is the first one now.
    hand.Yield(3);
    EXPECT_EQ(gui::Theme::dark, state().settings.theme);
  });
}

}  // namespace
}  // namespace hbmscope::test
