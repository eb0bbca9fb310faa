#include "app/gui/core/commands.h"

#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "app/gui/sources/demo.h"

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {
namespace {

TEST(Commands, every_command_that_people_can_give_has_title_help_and_menu) {
  for (const CommandInfo& info : command_table()) {
    EXPECT_FALSE(info.help.empty()) << info.name;
    EXPECT_EQ(&info_of(info.id), &info) << info.name;
    if (info.is_hidden) {
      EXPECT_TRUE(info.menu.empty() && info.title.empty() && info.shortcut.empty()) << info.name;
    } else {
      EXPECT_FALSE(info.title.empty()) << info.name;
      EXPECT_NE(std::find(menus.begin(), menus.end(), info.menu), menus.end()) << info.name;
    }
  }
}

TEST(Commands, no_two_commands_share_their_keys_or_their_title) {
  std::map<std::string, std::string> owner;
  for (const CommandInfo& info : command_table()) {
    if (info.is_hidden) continue;
    for (const std::string_view text : {info.shortcut, info.title}) {
      if (text.empty()) continue;
      const auto [at, added] = owner.emplace(text, info.name);
      EXPECT_TRUE(added) << text << " is of " << at->second << " and of " << info.name;
    }
  }
}

TEST(Commands, without_a_file_a_reason_is_given) {
  const AppState nothing_open;
  EXPECT_EQ(why_not(nothing_open, CommandId::copy), "Open a file first.");
  EXPECT_EQ(why_not(nothing_open, CommandId::back), "There is nothing to go back to.");
  EXPECT_EQ(why_not(nothing_open, CommandId::open_file), "");
}

TEST(Commands, a_page_in_a_browser_has_no_jobs_and_says_how_to_get_them) {
  AppState page;
  page.host = Host::browser;
  for (const CommandId id : {CommandId::show_jobs, CommandId::start_demo, CommandId::detach, CommandId::quit}) {
    EXPECT_FALSE(is_offered(page.host, id)) << info_of(id).name;
    EXPECT_EQ(why_not(page, id), "A page in a browser can't do this; install hbmscope for it.");
    EXPECT_TRUE(is_offered(Host::desktop, id)) << info_of(id).name;
  }
  EXPECT_TRUE(is_offered(Host::browser, CommandId::copy_link));
  EXPECT_FALSE(is_offered(Host::desktop, CommandId::copy_link));
}

TEST(Commands, those_with_an_argument_are_hidden_and_carry_it_as_it_is) {
  for (const CommandInfo& info : command_table()) {
    if (takes_argument(info.id)) {
      EXPECT_TRUE(info.is_hidden) << info.name;
    }
  }
  EXPECT_FALSE(takes_argument(CommandId::next_failure));
  CommandQueue queue;
  queue.push(command::size_address_time, {800, 400});
  queue.push(CommandId::next_failure);
  const std::vector<Command> commands = queue.take_commands();
  ASSERT_EQ(2U, commands.size());
  EXPECT_EQ(800, commands[0].as<PixelSize>().width);
  EXPECT_EQ(400, commands[0].as<PixelSize>().height);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(commands[1].argument));
}

TEST(DemoName, is_what_tells_two_runs_apart) {
  EXPECT_EQ("BFC (default)", name_of(DemoSettings()));
  EXPECT_EQ("platform", name_of(other_than(DemoSettings())));
  DemoSettings settings;
  settings.fraction = ".5";
  settings.preallocates = false;
  EXPECT_EQ("BFC (default), fraction .5, no preallocation", name_of(settings));
}

}  // namespace
}  // namespace hbmscope::gui
