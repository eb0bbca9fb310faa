// Whether a filter of system calls (seccomp) could kill the process for what hbmscope does in it. A sandbox lists the
// calls that its program makes, and hbmscope's are not among them. So a process that is in a sandbox of its own is not
// observed. One that sets up a sandbox later goes on being observed, but from then on hbmscope makes no new kind of
// call in it: no shared memory or socket for the children that it forks, no membarrier, no reading of its own memory
// through the kernel, no look at a file.
//
// Noticed are filters beyond those of `hbmscope run`, which has the filters of its container as its job has, and calls
// of glibc's prctl() and syscall() that add one. A program that makes that system call by itself is not noticed.
#pragma once

#include <atomic>

namespace hbmscope::inject {

inline std::atomic<bool> is_in_sandbox{false};
inline bool is_sandboxed() {
  return is_in_sandbox.load(std::memory_order_relaxed);
}

// `filters`: how many `hbmscope run` has; null, or no number: none.
void expect_filters(const char* filters);
// In a process that was attached to: those that it has now.
void expect_present_filters();
void follow_fork_in_sandbox();  // In the child.

// Compares the thread's filters with those that were expected. Reads a file in /proc.
void look_for_sandbox();

bool is_watched_for_sandbox();  // Not in a child of vfork(), whose memory is its parent's and whose filters are not.

}  // namespace hbmscope::inject
