// The processes that a command has started and that go on after its end, as the ranks that a script starts in the
// background. This process becomes the parent of those whose own parent has ended (PR_SET_CHILD_SUBREAPER), so they are
// found wherever they went, also with a session of their own.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace hbmscope::cli {

// From now on. Call it before the command starts.
void adopt_orphans();

// Adopted processes that have ended remain as zombies until this is called. `job` and the programs that hbmscope itself
// has started are left to those who wait for them.
void reap_orphans(pid_t job);

// Those that may still report something to the observer at `socket`: they have its collector, and were told of it. Not
// those of other users, nor those that hide their environment.
std::vector<pid_t> find_processes_that_may_report(const std::string& socket);

}  // namespace hbmscope::cli
