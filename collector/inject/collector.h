// What the parts of the library in the job share.
#pragma once

namespace hbmscope::inject {

// Makes the rings and hands them to the observer, once. False: there is no observer, or it can't be reached, which was
// reported on standard error.
bool open_rings();

// Whether there is an observer to connect to, as far as we know.
bool has_observer();

// Forgets what was defined in the rings before these.
void forget_driver_ids();

// Called in a child after fork(): the parent's observer is not the child's.
void forget_attachment();

// The process had been running before it was attached to, so its earlier memory is unknown.
bool came_late();

// Registers, once in a process, what its children do after fork().
void watch_forks();

}  // namespace hbmscope::inject
