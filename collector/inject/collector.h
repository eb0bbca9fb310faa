// What the parts of the library in the job share.
#pragma once

namespace hbmscope::inject {

// Makes the rings and hands them to the observer, once. False: there is none, or it can't be reached, which has been
// said on standard error.
bool open_rings();

// Whether there is one to be reached, as far as is known.
bool has_observer();

// What the rings before these knew is nothing to them.
void forget_driver_ids();

// In a child after fork(): its parent's observer is none of its.
void forget_attachment();

// The process had run before it was attached to: what it has is not known from the start.
bool came_late();

// Once a process: what is to happen in its children after fork().
void watch_forks();

}  // namespace hbmscope::inject
