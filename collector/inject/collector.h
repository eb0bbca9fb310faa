// What the parts of the library in the job share.
#pragma once

namespace hbmscope::inject {

// Makes the rings and hands them to the observer, once. False: there is none, or it can't be reached, which has been
// said on standard error.
bool open_rings();

// Whether there is one to be reached, as far as is known.
bool has_observer();

// In a child after fork(): what the rings of its parent knew is nothing to its own.
void forget_driver_ids();

}  // namespace hbmscope::inject
