// The environment as the library in a job reads it, while threads of the job change it.
#include "collector/inject/environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "collector/wire/reported_variables.h"

namespace hbmscope::inject {
namespace {

std::map<std::string, std::string> variables_now() {
  Environment environment;
  std::map<std::string, std::string> found;
  if (!environment.is_read()) return {{"not read", ""}};
  wire::find_reported_variables(
      environment.begin(), environment.end(),
      [&](const wire::ReportedVariable& variable, const char* value) { found.emplace(variable.name, value); },
      [&](const char* rank) { found.emplace("rank", rank); });
  return found;
}

class EnvironmentTest : public testing::Test {
 protected:
  void SetUp() override { clearenv(); }
};

TEST_F(EnvironmentTest, only_what_may_be_recorded_as_it_is_now) {
  EXPECT_TRUE(variables_now().empty());
  setenv("SECRET_TOKEN", "XLA_FLAGS=--secret", 1);
  setenv("XLA_FLAGS_OF_MINE", "secret", 1);
  setenv("XLA_CLIENT_MEM_FRACTION", ".5", 1);
  setenv("XLA_CLIENT_MEM_FRACTION", ".6", 1);
  setenv("RANK", "3", 1);
  setenv("PYTORCH_ALLOC_CONF", "", 1);
  const std::map<std::string, std::string> expected = {
      {"PYTORCH_ALLOC_CONF", ""}, {"XLA_CLIENT_MEM_FRACTION", ".6"}, {"rank", "3"}};
  EXPECT_EQ(expected, variables_now());
  Environment environment;
  EXPECT_EQ(std::string::npos, std::string(environment.begin(), environment.end()).find("secret"));
}

TEST_F(EnvironmentTest, long_values_and_pointers_to_nothing) {
  const std::string flags(100'000, 'f');
  setenv("XLA_FLAGS", flags.c_str(), 1);
  EXPECT_EQ(flags, variables_now()["XLA_FLAGS"]);
  setenv("XLA_FLAGS", std::string(200'000, 'f').c_str(), 1);
  setenv("XLA_CLIENT_MEM_FRACTION", ".5", 1);
  EXPECT_EQ((std::map<std::string, std::string>{{"XLA_CLIENT_MEM_FRACTION", ".5"}}), variables_now()) << "no room";
  char line[] = "TF_GPU_ALLOCATOR=x";
  char* pointers[] = {reinterpret_cast<char*>(1), line, reinterpret_cast<char*>(~std::uintptr_t{0}), nullptr};
  char** const before = environ;
  environ = pointers;
  EXPECT_EQ((std::map<std::string, std::string>{{"TF_GPU_ALLOCATOR", "x"}}), variables_now());
  environ = reinterpret_cast<char**>(8);
  EXPECT_EQ(1U, variables_now().count("not read"));
  environ = nullptr;
  EXPECT_TRUE(variables_now().empty());
  environ = before;
}

// setenv() moves the array when it grows, and clearenv() forgets it.
TEST_F(EnvironmentTest, while_threads_change_it) {
  std::atomic<bool> is_over{false};
  std::atomic<int> begun{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; !is_over; ++i) {
        const std::string name = "OF_THREAD_" + std::to_string(thread) + "_" + std::to_string(i % 300);
        if (i % 2 == 0)
          setenv(name.c_str(), std::string(static_cast<std::size_t>(i % 20), 'x').c_str(), 1);
        else
          setenv("XLA_PYTHON_CLIENT_MEM_FRACTION", i % 4 == 1 ? ".5" : ".75", 1);
        if (i % 20'000 == 0) clearenv();
        if (i == 1) ++begun;
        if (i % 100 == 0) std::this_thread::yield();
      }
    });
  while (begun < 3) std::this_thread::yield();
  int read = 0;
  for (int i = 0; i < 2000; ++i)
    for (const auto& [name, value] : variables_now()) {
      if (name == "not read") continue;
      ++read;
      EXPECT_EQ(name, "XLA_PYTHON_CLIENT_MEM_FRACTION");
      EXPECT_TRUE(value == ".5" || value == ".75") << value;
    }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace hbmscope::inject
