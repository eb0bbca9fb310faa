// A folder of its own for each test: for its files, and as the home of settings and state, so that tests that run at
// the same time don't meet, and nothing of the user who runs them is touched.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace hbmscope::test {

class TestHome {
 public:
  TestHome() {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(testing::TempDir()) / (std::string(test.test_suite_name()) + "." + test.name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
    setenv("XDG_CONFIG_HOME", (path_ / "config").c_str(), 1);
    setenv("XDG_STATE_HOME", (path_ / "state").c_str(), 1);
  }
  ~TestHome() { std::filesystem::remove_all(path_); }
  TestHome(const TestHome&) = delete;
  TestHome& operator=(const TestHome&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace hbmscope::test
