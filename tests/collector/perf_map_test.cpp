// Maps of code that was compiled at run time, as this process itself would write one.
#include "collector/serve/perf_map.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace hbmscope::serve {
namespace {

class PerfMapTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(path_); }
  void TearDown() override { std::filesystem::remove(path_); }
  void add(const std::string& text) { std::ofstream(path_, std::ios::app) << text; }
  std::string find(std::uint64_t address) { return std::string(map_.find(address)); }

  const std::string path_ = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  PerfMap map_{getpid(), geteuid()};
};

TEST_F(PerfMapTest, has_the_functions_of_all_complete_lines) {
  EXPECT_EQ("", find(0x1000)) << "there is no map yet";
  add("1000 40 first\n0x1040 0x10 second one\n1050 1");
  EXPECT_EQ("first", find(0x1000));
  EXPECT_EQ("first", find(0x103f));
  EXPECT_EQ("second one", find(0x1040));
  EXPECT_EQ("", find(0x1050)) << "its line is not complete";
  EXPECT_EQ("", find(0xfff));
  add("0 third\n");
  EXPECT_EQ("third", find(0x1050));
}

TEST_F(PerfMapTest, has_the_last_function_at_an_address) {
  add("1000 40 first\n1040 40 second\n1020 40 over both\n");
  EXPECT_EQ("over both", find(0x1020));
  EXPECT_EQ("over both", find(0x105f));
  EXPECT_EQ("", find(0x1000)) << "a part of a function that is gone";
  EXPECT_EQ("", find(0x1060));
}

TEST_F(PerfMapTest, passes_over_what_is_no_line) {
  add("\n \nhello\n1000\n1000 40\n1000 40 \n1000 0 nothing\nffffffffffffffff 40 past the end\n-1 40 x\n2000 8 good\n");
  EXPECT_EQ("good", find(0x2007));
  EXPECT_EQ("", find(0x1000));
  EXPECT_EQ("", find(~std::uint64_t{0}));
  add(std::string(3 << 20, 'x') + "\n3000 8 behind a line that is too long\n");
  EXPECT_EQ("behind a line that is too long", find(0x3000));
}

TEST_F(PerfMapTest, is_read_again_if_it_is_another_file) {
  add("1000 40 first\n1040 40 second\n");
  EXPECT_EQ("first", find(0x1000));
  std::filesystem::rename(path_, path_ + ".old");
  add("2000 40 after exec\n");
  EXPECT_EQ("after exec", find(0x2000));
  EXPECT_EQ("", find(0x1000));
  std::filesystem::remove(path_ + ".old");
}

TEST_F(PerfMapTest, is_a_file_of_the_user_and_no_link) {
  const std::string other = path_ + ".other";
  std::ofstream(other) << "1000 40 name\n";
  std::filesystem::create_symlink(other, path_);
  EXPECT_EQ("", find(0x1000));
  std::filesystem::remove(path_);
  std::filesystem::rename(other, path_);
  if (geteuid() == 0) {
    ASSERT_EQ(0, chown(path_.c_str(), 12345, 0));
    EXPECT_EQ("", find(0x1000));
    ASSERT_EQ(0, chown(path_.c_str(), 0, 0));
  }
  EXPECT_EQ("name", find(0x1000));
  std::filesystem::remove(path_);
  ASSERT_EQ(0, mkfifo(path_.c_str(), 0600));
  EXPECT_EQ("", find(0x5000)) << "and it does not wait for a writer";
}

TEST(PerfMap, of_a_process_that_has_ended_is_read_if_it_is_its_users) {
  const pid_t process = fork();
  if (process == 0) _exit(0);
  ASSERT_EQ(process, waitpid(process, nullptr, 0));
  const std::string path = "/tmp/perf-" + std::to_string(process) + ".map";
  std::ofstream(path) << "1000 40 name\n";
  EXPECT_EQ("name", PerfMap(process, geteuid()).find(0x1000));
  EXPECT_EQ("", PerfMap(process, geteuid() + 1).find(0x1000));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace hbmscope::serve
