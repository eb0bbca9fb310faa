// File descriptors that belong to a single thread.
#pragma once

namespace hbmscope::self_serve {

// From now on this thread has its own table of descriptors, with only /dev/null at 0, 1 and 2: a child that another
// thread forks has none of the files that this thread opens, and the process can't close them. False: the system has no
// such table, and nothing has changed.
bool take_own_descriptors();

}  // namespace hbmscope::self_serve
