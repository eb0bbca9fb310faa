// CUPTI's callbacks in a process that uses the driver already, with the observer in it too: started, stopped, started
// again while threads are in calls. The driver and CUPTI are tests/collector's (emulated_driver, fake_cupti).
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "analysis/trace/stream.h"
#include "collector/abi/cupti.h"
#include "collector/inject/back_end.h"
#include "collector/inject/collector.h"
#include "collector/inject/cupti_callbacks.h"
#include "collector/inject/loaded_objects.h"
#include "collector/inject/rings.h"
#include "collector/serve/observer.h"

namespace hbmscope {
namespace {

std::string observer_socket;

}  // namespace

// Replaces the library's function, which looks for the observer in the environment at load.
bool inject::came_late() {
  return false;
}
bool inject::open_rings() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!rings.is_open()) rings.open(observer_socket.c_str());
  return rings.is_open();
}

namespace {

using cuda::Address;
using cuda::Size;

class Cupti : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("hbmscope-cupti-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
    ASSERT_EQ(std::nullopt, observer.open());
    observer_socket = observer.socket_path();
  }
  void TearDown() override {
    inject::stop_cupti();
    std::filesystem::remove_all(folder_);
  }

  // The driver's own entry points, as in a library that was bound before the collector was loaded.
  void load(const char* cupti_version, bool is_slow = false) {
    if (is_slow) setenv("EMULATED_DRIVER_SLOW_US", "100000", 1);
    driver_ = dlopen(EMULATED_DRIVER, RTLD_NOW);
    ASSERT_NE(driver_, nullptr) << dlerror();
    take_ = of_driver<int(Address*, Size)>("cuMemAlloc_v2");
    give_ = of_driver<int(Address)>("cuMemFree_v2");
    cupti_ = dlopen((std::string(FAKE_CUPTI "/") + cupti_version).c_str(), RTLD_NOW);
    ASSERT_NE(cupti_, nullptr) << dlerror();
  }
  template <class Function>
  Function* of_driver(const char* name) {
    void* somewhere = dlsym(driver_, "fake_fail");
    return reinterpret_cast<Function*>(inject::find_function_in_object_of(somewhere, name));
  }
  template <class Function>
  Function* of_cupti(const char* name) {
    return reinterpret_cast<Function*>(dlsym(cupti_, name));
  }

  Address take(Size bytes) {
    Address at = 0;
    EXPECT_EQ(take_(&at, bytes), 0);
    return at;
  }
  void give(Address at) { EXPECT_EQ(give_(at), 0); }
  // The driver hands out the lowest free addresses: blocks of up to a page go into the hole, larger ones behind it. A
  // free that was not reported would otherwise show when its address comes back.
  static constexpr Size page = 4096, larger_than_hole = 5 * page;
  void leave_hole() {
    const Address hole = take(4 * page);
    take(1);
    give(hole);
  }

  bool start() {
    words_ = inject::Line();
    return inject::start_cupti(words_);
  }
  std::uint64_t reported() {
    for (int i = 0; i < 3; ++i) {
      usleep(2000);  // Longer than the observer lets several threads' rows wait for one another.
      observer.serve(0);
    }
    return observer.processes().empty() ? 0 : observer.processes().at(0).events;
  }

  inject::Line words_;
  Stream stream;
  serve::Observer observer{[this](const wire::SharedBlock& block) { EXPECT_EQ(std::nullopt, stream.append(block)); }};

 private:
  std::filesystem::path folder_;
  void* driver_ = nullptr;
  void* cupti_ = nullptr;
  int (*take_)(Address*, Size) = nullptr;
  int (*give_)(Address) = nullptr;
};

void count_calls(void* count, cupti::Domain, cupti::CallbackId, const void*) {
  ++*static_cast<std::atomic<int>*>(count);
}
constexpr cupti::CallbackId id_of_alloc = 243;

TEST_F(Cupti, tells_from_its_start_to_its_stop_in_a_process_that_runs) {
  load("12/libcupti.so.12");
  const Address before = take(100);
  ASSERT_TRUE(start()) << words_.text;
  EXPECT_NE(std::string(words_.text).find("CUPTI ("), std::string::npos) << words_.text;
  EXPECT_EQ(inject::back_end.load(), inject::BackEnd::cupti);
  const Address one = take(1000), other = take(2000);
  give(one);
  EXPECT_EQ(reported(), 3U);
  ASSERT_TRUE(start());  // It has been.
  inject::stop_cupti();
  EXPECT_EQ(inject::back_end.load(), inject::BackEnd::none);
  give(before);
  take(5000);
  EXPECT_EQ(reported(), 3U);
  inject::stop_cupti();
  ASSERT_TRUE(start()) << words_.text;
  give(other);
  take(700);
  EXPECT_EQ(reported(), 5U);
  observer.finish();
  EXPECT_EQ(stream.last_state().heap(1).in_use_bytes, 700U);
  EXPECT_EQ(stream.last_state().problems().unknown_frees, 0U);
}

TEST_F(Cupti, is_free_for_the_jobs_profiler_once_it_is_stopped) {
  load("12/libcupti.so.12");
  ASSERT_TRUE(start()) << words_.text;
  take(1000);
  EXPECT_EQ(reported(), 1U);
  const auto subscribe = of_cupti<int(cupti::Subscriber*, cupti::Callback, void*)>("cuptiSubscribe");
  cupti::Subscriber profiler = nullptr;
  std::atomic<int> calls{0};
  EXPECT_EQ(subscribe(&profiler, count_calls, &calls), cupti::has_a_subscriber);
  inject::stop_cupti();
  ASSERT_EQ(subscribe(&profiler, count_calls, &calls), cupti::success);
  of_cupti<int(std::uint32_t, cupti::Subscriber, cupti::Domain, cupti::CallbackId)>("cuptiEnableCallback")(
      1, profiler, cupti::Domain::driver_api, id_of_alloc);
  take(1000);
  EXPECT_EQ(calls, 2);
  EXPECT_FALSE(start());
  EXPECT_EQ(std::string(words_.text), "CUPTI is in use");
  EXPECT_EQ(inject::back_end.load(), inject::BackEnd::none);
  of_cupti<int(cupti::Subscriber)>("cuptiUnsubscribe")(profiler);
  ASSERT_TRUE(start()) << words_.text;
  take(1000);
  EXPECT_EQ(reported(), 2U);
}

TEST_F(Cupti, listens_together_with_a_profiler_that_shares) {
  load("13.3/libcupti.so.13");
  cupti::Subscriber profiler = nullptr;
  std::atomic<int> calls{0};
  cupti::SubscriberParameters parameters{sizeof(parameters), "a profiler", nullptr, 0, 1, {}};
  ASSERT_EQ((of_cupti<int(cupti::Subscriber*, cupti::Callback, void*, cupti::SubscriberParameters*)>(
                "cuptiSubscribe_v2")(&profiler, count_calls, &calls, &parameters)),
            cupti::success);
  of_cupti<int(std::uint32_t, cupti::Subscriber, cupti::Domain, cupti::CallbackId)>("cuptiEnableCallback")(
      1, profiler, cupti::Domain::driver_api, id_of_alloc);
  ASSERT_TRUE(start()) << words_.text;
  take(1000);
  EXPECT_EQ(reported(), 1U);
  EXPECT_EQ(calls, 2);
  inject::stop_cupti();
  take(1000);
  EXPECT_EQ(calls, 4);
}

TEST_F(Cupti, a_call_that_was_going_on_when_it_stopped_hides_none_that_comes_later) {
  load("13.0/libcupti.so.13", true);
  leave_hole();
  ASSERT_TRUE(start()) << words_.text;
  const Address block = take(100);
  std::atomic<int> step{0};
  std::thread thread([&] {
    step = 1;
    give(block);  // Stopped meanwhile.
    step = 2;
    while (step != 3) std::this_thread::yield();
    give(take(larger_than_hole));
  });
  while (step != 1) std::this_thread::yield();
  usleep(30'000);
  inject::stop_cupti();
  ASSERT_TRUE(start()) << words_.text;
  while (step != 2) std::this_thread::yield();
  EXPECT_EQ(reported(), 1U);  // Only the block; its free was not reported completely.
  step = 3;
  thread.join();
  EXPECT_EQ(reported(), 3U);
}

TEST_F(Cupti, is_started_and_stopped_while_threads_call) {
  load("13.0/libcupti.so.13");
  leave_hole();
  std::atomic<bool> goes_on{true};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (goes_on) give(take(512));
    });
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(start()) << words_.text;
    usleep(500);
    inject::stop_cupti();
    observer.serve(0);
  }
  goes_on = false;
  for (std::thread& thread : threads) thread.join();
  const std::uint64_t before = reported();
  EXPECT_GT(before, 100U);
  ASSERT_TRUE(start()) << words_.text;
  std::thread([&] {
    for (int i = 0; i < 1000; ++i) give(take(larger_than_hole));
  }).join();
  EXPECT_EQ(reported(), before + 2000);
}

}  // namespace
}  // namespace hbmscope
