// The editor that shows a line of code, and where its file is.
#include "app/gui/core/editor.h"

#include <gtest/gtest.h>

namespace hbmscope::gui {
namespace {

using Words = std::vector<std::string>;

TEST(Editor, setting_comes_before_variables_and_those_only_with_a_window) {
  EXPECT_EQ("", choose_editor("", "", ""));
  EXPECT_EQ("", choose_editor("", "vim", "/usr/bin/nano")) << "they need a terminal";
  EXPECT_EQ("code -g FILE:LINE", choose_editor("", "vim", "code --wait"));
  EXPECT_EQ("/opt/zed FILE:LINE", choose_editor(" ", "/opt/zed --wait", "code"));
  EXPECT_EQ("subl FILE:LINE", choose_editor("subl", "code", "code"));
  EXPECT_EQ("xterm -e vim +LINE FILE", choose_editor("xterm -e vim +LINE FILE", "code", ""));
  EXPECT_EQ("mine --fast FILE", choose_editor("mine --fast", "", ""));
}

TEST(Editor, the_place_is_in_the_words_of_its_command) {
  EXPECT_EQ((Words{"code", "-g", "/a b/LINE.py:41"}), editor_arguments("code -g FILE:LINE", "/a b/LINE.py", 41));
  EXPECT_EQ((Words{"kate", "-l", "1", "x.py"}), editor_arguments("kate  -l LINE FILE", "x.py", 0)) << "unknown line";
}

}  // namespace
}  // namespace hbmscope::gui
