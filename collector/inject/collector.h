// Functions shared by the parts of the library inside the job.
#pragma once

namespace hbmscope::inject {

// Creates the rings and hands them to the observer, once. False: there is no observer, or it can't be reached, which
// was reported on standard error.
bool open_rings();

// Whether there is an observer to connect to, as far as is known.
bool has_observer();

// Forgets the ids that were defined in earlier rings.
void forget_driver_ids();

// Called in a child after fork(): the child does not share the parent's observer.
void forget_attachment();

// The process had been running before it was attached to, so its earlier memory is unknown.
bool came_late();
// False while an attach is in progress: the observer is there, but not all that can be seen is seen yet.
bool is_attach_complete();

// Registers the fork handlers, once per process.
void watch_forks();

}  // namespace hbmscope::inject
