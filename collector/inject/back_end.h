// Who tells of the driver's calls. There are two that can, and exactly one of them does:
//
// - interposition: a caller gets our own entry points, which go on to the driver's (driver_calls.cpp);
// - CUPTI: the driver calls us back (cupti_callbacks.h). It has room for one such listener, which the job's own
// profiler
//   may want to be.
#pragma once

#include <atomic>

namespace hbmscope::inject {

enum class BackEnd : int {
  interposition,
  cupti_when_used,  // CUPTI is wanted, and asked when the job first uses the driver: not before, for the sake of forks.
  cupti,
  none,
};
extern std::atomic<BackEnd> back_end;

inline bool is_interposing() {
  return back_end.load(std::memory_order_relaxed) == BackEnd::interposition;
}

// At load: CUPTI is wanted, and interposition only where there is none to be had.
void prefer_cupti();

// Who tells in a job that was attached to, in the words of wire::driver_calls_fact, for whoever watches. `is_later`: it
// is other than it was at the attaching, which gets a mark.
void tell_who_tells(const char* words, bool is_later);

// In a child after fork(): threads of the parent's that held something are not here.
void forget_back_end_locks();

void decide_back_end_now();
// Before a call of the driver: where CUPTI is wanted it is asked now, and what came of it is said.
inline void decide_back_end() {
  if (__builtin_expect(back_end.load(std::memory_order_acquire) == BackEnd::cupti_when_used, 0)) decide_back_end_now();
}

}  // namespace hbmscope::inject
