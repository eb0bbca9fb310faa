#include "collector/inject/back_end.h"

#include <errno.h>
#include <time.h>

#include "collector/inject/cupti_callbacks.h"
#include "collector/inject/line.h"
#include "collector/inject/nvtx_marks.h"
#include "collector/inject/rings.h"
#include "collector/wire/reported_names.h"

namespace hbmscope::inject {
namespace {

// Threads that arrive while one of them tries CUPTI wait for it, but not forever: a library that is being loaded may
// wait for them.
constexpr timespec wait_step{0, 1'000'000};
constexpr int wait_steps_max = 2'000;
SpinLock deciding;

}  // namespace

std::atomic<BackEnd> back_end{BackEnd::interposition};

void report_back_end(const char* words, bool is_later) {
  rings.define_job_fact(wire::driver_calls_fact.data(), words);
  if (!is_later) return;
  Line sentence;
  wire::MarkerRecord mark;
  mark.name = rings.define_string(sentence.add(wire::driver_calls_are.data()).add(words).text);
  rings.add_of_driver(mark);
}

void prefer_cupti() {
  back_end.store(BackEnd::cupti_when_used, std::memory_order_release);
}

void forget_back_end_locks() {
  deciding.unlock();
  forget_cupti_lock();
  nvtx::forget_lock();
}

void decide_back_end_now() {
  const int errno_of_job = errno;
  for (int steps = 0; !deciding.try_lock(); ++steps) {
    if (back_end.load(std::memory_order_acquire) != BackEnd::cupti_when_used || steps == wait_steps_max) {
      errno = errno_of_job;
      return;
    }
    nanosleep(&wait_step, nullptr);
  }
  if (back_end.load(std::memory_order_acquire) == BackEnd::cupti_when_used) {
    Line words;
    if (start_cupti(words)) {
      say(Line().add(wire::driver_calls_are.data()).add(wire::recorded_with.data()).add(words.text));
    } else {
      say(words.add(", so CUDA driver calls are recorded by interposition"));
      back_end.store(BackEnd::interposition, std::memory_order_release);
    }
  }
  deciding.unlock();
  errno = errno_of_job;
}

}  // namespace hbmscope::inject
