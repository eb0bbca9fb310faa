// The back end that reports the driver's calls. There are two, and exactly one of them reports:
//
// - interposition: a caller gets our entry points, which call those of the driver (driver_calls.cpp);
// - CUPTI: the driver calls us back (cupti_callbacks.h). CUPTI accepts one such listener, and the job's own profiler
//   may want to be it.
#pragma once

#include <atomic>

namespace hbmscope::inject {

enum class BackEnd : int {
  interposition,
  cupti_when_used,  // CUPTI is wanted, and tried when the job first uses the driver; not before, so that a process can
                    // still fork.
  cupti,
  none,
};
extern std::atomic<BackEnd> back_end;

inline bool is_interposing() {
  return back_end.load(std::memory_order_relaxed) == BackEnd::interposition;
}

// Called at load: CUPTI is wanted, and interposition only if CUPTI is not available.
void prefer_cupti();

// Reports the back end of a job that was attached to, as a value of wire::driver_calls_fact, for viewers. `is_later`:
// it changed after the attach, which is recorded as a marker.
void report_back_end(const char* words, bool is_later);

// Called in a child after fork(): threads of the parent that held a lock do not exist here.
void forget_back_end_locks();

void decide_back_end_now();
// Called before a driver call: if CUPTI is wanted, it is tried now, and the result is reported.
inline void decide_back_end() {
  if (__builtin_expect(back_end.load(std::memory_order_acquire) == BackEnd::cupti_when_used, 0)) decide_back_end_now();
}

}  // namespace hbmscope::inject
