#include "analysis/read/file_bytes.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace hbmscope {
namespace {

class FileBytes : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / ("hbmscope_" + std::string(test->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::string file = (folder_ / name).string();
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

  std::filesystem::path folder_;
};

TEST_F(FileBytes, whole_files_of_any_size) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{4095}, std::size_t{4096}, (std::size_t{4} << 20) + 1}) {
    const std::string text(size, 'x');
    const auto read = read_file(write("file", text), size);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(std::string(read->bytes().begin(), read->bytes().end()), text);
  }
}

TEST_F(FileBytes, refusals_say_what_and_what_to_do) {
  EXPECT_EQ(read_file((folder_ / "none").string(), 10).error().what, "there is no such file");
  EXPECT_EQ(read_file(folder_.string(), 10).error().what, "this is a folder");
  EXPECT_EQ(read_file(write("empty", ""), 10).error().what, "this is an empty file");
  const auto large = read_file(write("large", std::string(11, 'x')), 10);
  ASSERT_FALSE(large);
  EXPECT_NE(large.error().text().find("--max-size"), std::string::npos);
  EXPECT_EQ(large.error().file, (folder_ / "large").string());
}

TEST_F(FileBytes, stops_when_cancelled_and_reports_progress) {
  const std::string file = write("file", std::string(100, 'x'));
  ReadControl control;
  ASSERT_TRUE(read_file(file, 100, &control));
  EXPECT_EQ(control.done_bytes, 100U);
  EXPECT_EQ(control.total_bytes, 100U);
  control.cancelled = true;
  EXPECT_FALSE(read_file(file, 100, &control));
}

TEST_F(FileBytes, a_device_without_an_end_stops_at_the_limit) {
  if (!std::filesystem::exists("/dev/zero")) GTEST_SKIP() << "there is no /dev/zero here";
  const auto read = read_file("/dev/zero", 1 << 20);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().text().find("larger than 1.00 MiB"), std::string::npos);
}

}  // namespace
}  // namespace hbmscope
