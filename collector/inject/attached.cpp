// Our thread in a job that was attached to (collector/attach): it loaded this library, connects to the observer, and
// stays until the observer hangs up. Then everything is restored and the thread ends; the library stays, idle, for the
// next attach.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "collector/inject/annotate_sink.h"
#include "collector/inject/back_end.h"
#include "collector/inject/collector.h"
#include "collector/inject/cupti_callbacks.h"
#include "collector/inject/framework_pools.h"
#include "collector/inject/line.h"
#include "collector/inject/loaded_objects.h"
#include "collector/inject/process_facts.h"
#include "collector/inject/rings.h"
#include "collector/inject/sandbox.h"
#include "collector/inject/stacks.h"
#include "collector/wire/attach_layout.h"
#include "collector/wire/reported_names.h"

namespace hbmscope::inject {
namespace {

// How often to look for newly loaded libraries; more often while there is no driver, because allocations from before it
// is found stay unknown. A look that finds nothing new costs some microseconds.
constexpr int look_again_ms = 500, look_for_driver_ms = 20;

SpinLock attaching;

void sleep_ms(long ms) {
  const timespec step{0, ms * 1'000'000};
  nanosleep(&step, nullptr);
}

// The new thread inherits the borrowed thread's floating-point state, such as its rounding mode.
void take_usual_state() {
#if defined(__x86_64__)
  __asm__ volatile("fninit");
  _mm_setcsr(0x1f80);
#endif
  const sched_param usual{};
  sched_setscheduler(0, SCHED_OTHER, &usual);
}

// Nobody joins this thread. Before glibc 2.34 pthread_detach is in a library that not every program has.
void detach_this_thread() {
  void* detach = find_function("pthread_detach");
  if (detach != nullptr) reinterpret_cast<int (*)(pthread_t)>(detach)(pthread_self());
}

void answer(wire::AttachControl* control, std::uint32_t state, const char* words) {
  control->words_bytes = static_cast<std::uint32_t>(strnlen(words, sizeof(control->words)));
  std::memcpy(control->words, words, control->words_bytes);
  __atomic_store_n(&control->state, state, __ATOMIC_RELEASE);
}

// A program may close descriptors that it did not open, and open something else under the same number.
class Link {
 public:
  explicit Link(int descriptor) : descriptor_(descriptor) { look(found_); }
  bool is_ours() const {
    struct stat now {};
    return look(now) && now.st_dev == found_.st_dev && now.st_ino == found_.st_ino;
  }
  // Anything that arrives from the observer, including its hang-up, ends the connection.
  bool is_over(int wait_ms) const {
    pollfd waited{descriptor_, POLLIN, 0};
    return !is_ours() || poll(&waited, 1, wait_ms) > 0;
  }
  void close() const {
    if (is_ours()) ::close(descriptor_);
  }

 private:
  // The system call itself: glibc's function exists only since 2.33.
  bool look(struct stat& at) const { return syscall(SYS_fstat, descriptor_, &at) == 0; }

  int descriptor_;
  struct stat found_ {};
};

// The attach memory can be unmapped when the borrowed thread has left it and the attaching hbmscope, which may have
// died, has read it.
void give_back(wire::AttachControl* control, const Link* link) {
  constexpr int steps_max = 100;
  for (int step = 0; step < steps_max && __atomic_load_n(&control->is_read, __ATOMIC_ACQUIRE) == 0; ++step) {
    if (link != nullptr && link->is_over(0)) break;
    sleep_ms(10);
  }
  while (__atomic_load_n(&control->has_left, __ATOMIC_ACQUIRE) == 0) sleep_ms(10);
  munmap(control, wire::attach_region_bytes);
}

Link* attached_link = nullptr;
bool is_complete = true;

// CUPTI reports the driver's calls, if there is a driver and CUPTI is free: callers already hold the driver's entry
// points, so interposition would come too late. Tried once the driver is loaded, which may be later.
class DriverCalls {
 public:
  explicit DriverCalls(bool are_wanted) : are_wanted_(are_wanted) {}
  bool is_decided() const { return is_decided_; }
  void look() {
    if (is_decided_) return;
    Line how;
    const bool has_driver = find_function("cuInit") != nullptr, has_hip = find_function("hipInit") != nullptr;
    is_decided_ = has_driver || has_hip;
    if (!is_decided_)
      how.add(wire::not_recorded_yet.data()).add("no CUDA driver is loaded");
    else if (!has_driver)
      how.add(wire::not_recorded.data())
          .add("the job uses HIP, whose calls are recorded only if hbmscope run starts it");
    else if (!are_wanted_)
      how.add(wire::not_recorded.data()).add("CUPTI is left to the job (--no-cupti)");
    else
      start(how);
    if (is_decided_ || is_first_) report_back_end(how.text, !is_first_);
    is_first_ = false;
  }

 private:
  static void start(Line& how) {
    Line words;
    how.add(start_cupti(words) ? wire::recorded_with.data() : wire::not_recorded.data()).add(words.text);
  }

  bool are_wanted_, is_decided_ = false, is_first_ = true;
};

// Serves until the observer hangs up. Returns null, or the reason why it did not.
const char* serve_observer(wire::AttachControl* control, const char* observer) {
  const char* back_ends = observer + std::strlen(observer) + 1;
  if (rings.is_open()) return "it was started by hbmscope run";
  if (is_another_listening()) return "it observes itself (hbmscope_serve)";
  int descriptor = -1;
  watch_forks();
  __atomic_store_n(&is_complete, false, __ATOMIC_RELEASE);
  if (const char* wrong = rings.open(observer, &descriptor)) return wrong;
  expect_present_filters();
  report_process_facts();
  Link link(descriptor);
  __atomic_store_n(&attached_link, &link, __ATOMIC_RELEASE);
  forget_driver_ids();
  be_silent();
  choose_stacks(wire::stacks_when_attached);
  take_stacks_with(take_stack);
  listen_to_all();
  DriverCalls driver_calls(std::strcmp(back_ends, wire::attach_without_cupti) != 0);
  driver_calls.look();
  look_for_pools();
  __atomic_store_n(&is_complete, true, __ATOMIC_RELEASE);
  answer(control, wire::attach_state::is_attached, "");
  give_back(control, &link);
  while (!link.is_over(driver_calls.is_decided() ? look_again_ms : look_for_driver_ms)) {
    look_for_sandbox();
    if (driver_calls.is_decided()) note_variables(0);
    if (!listen_to_all()) continue;
    driver_calls.look();
    look_for_pools();
  }
  leave_pools();
  stop_listening();
  stop_cupti();
  rings.close();
  __atomic_store_n(&attached_link, nullptr, __ATOMIC_RELEASE);
  link.close();
  return nullptr;
}

}  // namespace

bool came_late() {
  return __atomic_load_n(&attached_link, __ATOMIC_ACQUIRE) != nullptr;
}

bool is_attach_complete() {
  return __atomic_load_n(&is_complete, __ATOMIC_ACQUIRE);
}

void forget_attachment() {
  if (attached_link != nullptr) attached_link->close();
  attached_link = nullptr;
  attaching.unlock();
}

}  // namespace hbmscope::inject

// Called by the thread that loaded the library, with all signals blocked.
extern "C" __attribute__((visibility("default"))) void hbmscope_attach_1(hbmscope::wire::AttachControl* control,
                                                                         const char* observer) {
  using namespace hbmscope::inject;
  prctl(PR_SET_NAME, "hbmscope", 0, 0, 0);
  take_usual_state();
  detach_this_thread();
  const bool is_alone = attaching.try_lock();
  const char* wrong = is_alone ? serve_observer(control, observer) : "another hbmscope is attached to it";
  if (is_alone) attaching.unlock();
  if (wrong == nullptr) return;
  answer(control, hbmscope::wire::attach_state::failed, wrong);
  give_back(control, nullptr);
}
