// The text around one line of a log.
#include "analysis/read/log/log_excerpt.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <zlib.h>

namespace hbmscope::log {
namespace {

namespace fs = std::filesystem;

class LogExcerptTest : public testing::Test {
 protected:
  LogExcerptTest()
      : file_((fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name()).string()) {
  }
  ~LogExcerptTest() override { fs::remove(file_); }
  void write(const std::string& text) const { std::ofstream(file_, std::ios::binary) << text; }
  Result<LogExcerpt> read(std::uint64_t line, std::uint64_t around = 2) const {
    return read_log_excerpt(file_, line, around, is_cancelled_);
  }
  static std::string numbered(int lines) {
    std::string text;
    for (int i = 1; i <= lines; ++i) text += "line " + std::to_string(i) + "\n";
    return text;
  }

  std::string file_;
  std::atomic<bool> is_cancelled_ = false;
};

TEST_F(LogExcerptTest, is_the_line_and_some_around_it) {
  write(numbered(10));
  const auto middle = read(5);
  ASSERT_TRUE(middle) << middle.error().text();
  EXPECT_EQ(middle->focus, 5U);
  ASSERT_EQ(middle->lines.size(), 5U);
  EXPECT_EQ(middle->lines.front().text, "line 3");
  EXPECT_EQ(middle->lines.back().number, 7U);
  EXPECT_TRUE(middle->ends_before_file);
  const auto first = read(1), last = read(10);
  EXPECT_EQ(first->lines.size(), 3U);
  ASSERT_EQ(last->lines.size(), 3U);
  EXPECT_EQ(last->lines.back().text, "line 10");
  EXPECT_FALSE(last->ends_before_file);
}

TEST_F(LogExcerptTest, of_a_large_compressed_log_is_the_same) {
  const std::string text = numbered(400'000);  // More than one piece.
  const gzFile out = gzopen(file_.c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  const auto found = read(300'000);
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->lines.size(), 5U);
  EXPECT_EQ(found->lines[2].text, "line 300000");
}

TEST_F(LogExcerptTest, reads_as_a_person_would_and_cuts_very_long_lines) {
  write("\x1b[31mred\x1b[0m\r\n\n{\"log\": \"first\\nsecond\"}\n" + std::string(1 << 20, 'x') + "\nlast");
  const auto found = read(3);
  ASSERT_TRUE(found) << found.error().text();
  const auto has = [&](std::uint64_t number, const std::string& text) {
    return std::any_of(found->lines.begin(), found->lines.end(),
                       [&](const LogExcerpt::Line& one) { return one.number == number && one.text == text; });
  };
  EXPECT_TRUE(has(1, "red"));
  EXPECT_TRUE(has(2, ""));
  EXPECT_TRUE(has(3, "first"));
  EXPECT_TRUE(has(3, "second"));
  EXPECT_TRUE(has(4, std::string(16384, 'x')));
  EXPECT_TRUE(has(5, "last"));
}

TEST_F(LogExcerptTest, keeps_the_values_of_a_line_of_json) {
  const std::string statistics = R"({"allocated_bytes.all.current": 4177526784, "num_ooms": 1})";
  write("CUDA out of memory.\n" + statistics + "\n");
  const auto found = read(2);
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(2U, found->lines.size());
  EXPECT_EQ(statistics, found->lines[1].text);
}

TEST_F(LogExcerptTest, says_why_it_is_not_there) {
  EXPECT_EQ(read(1).error().file, file_);
  write("one\ntwo\n");
  EXPECT_TRUE(read(2));
  const auto beyond = read(3);
  ASSERT_FALSE(beyond);
  EXPECT_NE(beyond.error().what.find("fewer lines"), std::string::npos);
  is_cancelled_ = true;
  EXPECT_FALSE(read(1));
}

}  // namespace
}  // namespace hbmscope::log
