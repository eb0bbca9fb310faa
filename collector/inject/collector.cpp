// libhbmscope_collector.so, in the job: finds what can be observed, and connects to the observer when there is
// something: an annotated allocator, or a CUDA driver call that allocates. Without an observer, or with nothing to
// observe, it does nothing at all.
#include "collector/inject/collector.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "collector/inject/annotate_sink.h"
#include "collector/inject/back_end.h"
#include "collector/inject/framework_pools.h"
#include "collector/inject/line.h"
#include "collector/inject/process_facts.h"
#include "collector/inject/rings.h"
#include "collector/inject/sandbox.h"
#include "collector/inject/stacks.h"

// Glibc's own function under pthread_atfork, which a shared library would have to link in. Null with another C library.
extern "C" __attribute__((weak)) int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(),
                                                       void* library);
extern "C" void* __dso_handle;

namespace hbmscope::inject {
namespace {

const char* observer = nullptr;  // Null: there is no observer, or the connection has ended.
// What `observer` points to: programs that change their title overwrite the environment that they were started with.
char observer_path[sizeof(sockaddr_un::sun_path)] = {};
bool follows = true;
SpinLock opening;

// The rings belong to the parent. The child's driver calls go into its own rings.
void after_fork_in_child() {
  follow_fork_in_sandbox();
  stop_listening_in_child();
  rings.forget();
  forget_attachment();
  forget_driver_ids();
  forget_stacks();
  forget_back_end_locks();
  forget_pools();
  forget_process_facts_lock();
  opening.unlock();
  if (!follows) observer = nullptr;
}

// The library is loaded by musl, too, since everything that glibc alone has is a weak symbol, but it does nothing
// there: a thread's ring could not be returned when the thread ends.
bool has_glibc() {
  return &__register_atfork != nullptr && &__cxa_thread_atexit_impl != nullptr;
}

// Only this process is observed, even when it executes another program, as launchers do.
bool is_this_process(const char* number) {
  std::uint64_t process = 0;
  for (; *number >= '0' && *number <= '9'; ++number) process = process * 10 + static_cast<std::uint64_t>(*number - '0');
  return process == static_cast<std::uint64_t>(getpid());
}

// Programs that it starts load this library too, and find the environment that they would have without it. This library
// is the first of the preloaded ones.
void leave_this_process_alone() {
  observer = nullptr;
  unsetenv(wire::no_follow_variable);
  unsetenv(wire::observer_variable);
  unsetenv(wire::filters_variable);
  unsetenv(wire::cupti_variable);
  unsetenv(wire::stacks_variable);
  const char* preloaded = std::getenv("LD_PRELOAD");
  const char* others = preloaded == nullptr ? nullptr : std::strchr(preloaded, ':');
  if (others != nullptr)
    setenv("LD_PRELOAD", others + 1, 1);
  else
    unsetenv("LD_PRELOAD");
}

__attribute__((constructor)) void begin() {
  const char* path = std::getenv(wire::observer_variable);
  if (path == nullptr || std::strlen(path) >= sizeof(observer_path)) return;
  observer = std::strcpy(observer_path, path);
  if (const char* followed = std::getenv(wire::no_follow_variable)) {
    follows = false;
    if (!is_this_process(followed)) return leave_this_process_alone();
    watch_forks();  // Called before anything can be observed: children forked before then must not be observed either.
  }
  expect_filters(std::getenv(wire::filters_variable));
  choose_stacks(std::getenv(wire::stacks_variable));
  take_stacks_with(take_stack);
  if (std::getenv(wire::cupti_variable) != nullptr) prefer_cupti();
  if (has_annotated_tables() && open_rings()) listen_to_all();
}

void say_if_memory_is_scarce() {
  constexpr std::uint64_t mib = 1 << 20, scarce = 1024 * mib;
  const std::uint64_t left = rings.group_bytes_left();
  if (left >= scarce) return;
  say(Line()
          .add("the job's control group has only ")
          .add_number(left / mib)
          .add(" MiB of memory left, of which hbmscope's buffers in the job take at most ")
          .add_number(rings.bytes_max() / mib)
          .add(" MiB. Events that do not fit in a burst are counted as lost"));
}

// What the job has set too late, if it ends by exit().
__attribute__((destructor)) void end() {
  if (rings.is_open()) note_variables(0);
}

}  // namespace

bool has_observer() {
  return __atomic_load_n(&observer, __ATOMIC_ACQUIRE) != nullptr;
}

void watch_forks() {
  static bool is_notified_of_forks = false;
  if (!is_notified_of_forks && has_glibc())
    __register_atfork(hold_stacks, release_stacks, after_fork_in_child, __dso_handle);
  is_notified_of_forks = true;
}

bool open_rings() {
  if (__atomic_load_n(&observer, __ATOMIC_ACQUIRE) == nullptr) return false;
  const int errno_of_job = errno;
  int cancel_state = 0;  // A thread that is cancelled in here would leave the lock locked.
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
  opening.lock();
  if (observer != nullptr && !rings.is_open()) {
    watch_forks();
    look_for_sandbox();
    if (is_sandboxed()) {
      __atomic_store_n(&observer, nullptr, __ATOMIC_RELEASE);  // Saying so takes calls, too: hbmscope run does.
    } else if (const char* wrong = has_glibc() ? rings.open(observer) : "its C library is not glibc") {
      __atomic_store_n(&observer, nullptr, __ATOMIC_RELEASE);
      say(Line().add("this process is not observed: ").add(wrong));  // Only once; the job goes on without us.
    } else {
      report_process_facts();
      say_if_memory_is_scarce();
    }
  }
  opening.unlock();
  pthread_setcancelstate(cancel_state, nullptr);
  errno = errno_of_job;
  return rings.is_open();
}

}  // namespace hbmscope::inject

// A library that is loaded later calls this from its constructor (collector/annotate/hbmscope.h).
extern "C" __attribute__((visibility("default"))) void hbmscope_announce(hbmscope_table*) {
  if (hbmscope::inject::open_rings()) hbmscope::inject::listen_to_all();
}
