// File descriptors that are of one thread and nobody else's.
#pragma once

namespace hbmscope::self_serve {

// From now on this thread has a table of descriptors of its own, with nothing in it but /dev/null at 0, 1 and 2: what
// it opens is in no child of fork() that another thread makes, and what the process closes is closed. False: the system
// gives none, and nothing has changed.
bool take_own_descriptors();

}  // namespace hbmscope::self_serve
