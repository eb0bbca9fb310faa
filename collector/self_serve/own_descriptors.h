// File descriptors that belong to one thread alone.
#pragma once

namespace hbmscope::self_serve {

// From now on this thread has its own table of descriptors, with only /dev/null at 0, 1 and 2 in it: a child of fork()
// that another thread makes has none of the files it opens, and files that the process closes are closed. False: the
// system has no such table, and nothing has changed.
bool take_own_descriptors();

}  // namespace hbmscope::self_serve
