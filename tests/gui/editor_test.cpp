// Open in editor, with a script for an editor.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::test {
namespace {

namespace fs = std::filesystem;
using gui::CommandId;
namespace command = gui::command;

class OpenInEditor : public GuiTest {
 protected:
  OpenInEditor() {
    fs::create_directories(fs::path(path("config")) / "hbmscope");
    std::ofstream(path("config/hbmscope/settings.json")) << R"({"editor": ")" << path("editor.sh") << R"( FILE:LINE"})";
    std::ofstream(path("editor.sh")) << "#!/bin/sh\necho \"$1\" > " << path("written") << ".part\nmv "
                                     << path("written") << ".part " << path("written") << "\n";
    fs::permissions(path("editor.sh"), fs::perms::owner_all);
  }
  std::string written() const {
    std::ifstream in(path("written"));
    std::string line;
    std::getline(in, line);
    return line;
  }
  void select_block(ImGuiTestContext& hand) {
    SmallTrace trace;
    trace.region(0x10000000, 640 * mib);
    trace.alloc(0x10000000, 64 * mib, "forward");
    trace.write(path("small.hbm"));
    open(hand, {path("small.hbm")});
    commands().push(command::select_address, {0x10000000});
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(4);
  }
  void open_menu(ImGuiTestContext& hand) {
    hand.ItemClick("//Inspector/$$0/forward  train.py:10", ImGuiMouseButton_Right);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(2);
  }
  bool is_enabled(ImGuiTestContext& hand) {
    return (hand.ItemInfo("//$FOCUSED/Open in editor").ItemFlags & ImGuiItemFlags_Disabled) == 0;
  }
};

TEST_F(OpenInEditor, the_line_that_allocated_a_block_opens_in_the_editor_of_the_settings) {
  std::ofstream(path("train.py")) << "step()\n";
  run([&](ImGuiTestContext& hand) {
    select_block(hand);
    open_menu(hand);
    EXPECT_TRUE(is_enabled(hand));
    hand.ItemClick("//$FOCUSED/Open in editor");
    EXPECT_TRUE(wait_until(hand, [&] { return !written().empty(); }));
    EXPECT_EQ(path("train.py") + ":10", written());
  });
}

TEST_F(OpenInEditor, a_file_of_another_machine_says_so) {
  run([&](ImGuiTestContext& hand) {
    select_block(hand);
    open_menu(hand);
    EXPECT_FALSE(is_enabled(hand));
    hand.MouseMove("//$FOCUSED/Open in editor");
    hand.SleepNoSkip(1.0F, 0.1F);
    take_picture_now(hand, "no_editor");
    hand.PopupCloseAll();
    commands().push(command::open_in_editor, gui::FrameKey{"forward", "train.py", 10});
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("train.py is not on this machine.", state().window.notice);
  });
}

}  // namespace
}  // namespace hbmscope::test
