#include "app/gui/core/worker_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

namespace hbmscope::gui {
namespace {

// What the tasks did, and the results in the order in which the window got them.
struct Seen {
  std::string done, finished;

  WorkerPool::Work task(char name) {
    return [this, name]() -> WorkerPool::Finish {
      done += name;
      return [this, name] { finished += name; };
    };
  }
};

TEST(WorkerPool, a_thread_works_and_the_window_gets_the_results) {
  Seen seen;
  WorkerPool pool(1, [] {});
  for (const char name : {'a', 'b', 'c'}) pool.post(seen.task(name));
  while (pool.busy()) {
    pool.run_finished();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(seen.finished, "abc");
  EXPECT_FALSE(pool.run_finished());
}

TEST(WorkerPool, without_threads_each_frame_does_one_task) {
  Seen seen;
  WorkerPool pool(0, [] {});
  pool.post(seen.task('a'));
  pool.post(seen.task('b'));
  EXPECT_EQ(seen.done, "") << "before a frame";
  EXPECT_TRUE(pool.busy());
  EXPECT_TRUE(pool.run_finished());
  EXPECT_EQ(seen.done + " " + seen.finished, "a a");
  EXPECT_TRUE(pool.run_finished());
  EXPECT_EQ(seen.done + " " + seen.finished, "ab ab");
  EXPECT_FALSE(pool.busy());
  EXPECT_FALSE(pool.run_finished());
}

}  // namespace
}  // namespace hbmscope::gui
