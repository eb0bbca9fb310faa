// Listens to programs that include collector/annotate/hbmscope.h: fills their tables, and turns their calls into rows.
#pragma once

#define HBMSCOPE_LISTENER
#include "collector/annotate/hbmscope.h"

namespace hbmscope::inject {

// Whether any program or library that is loaded has a table.
bool has_annotated_tables();

// Whether somebody else's calls are in one: of a program that serves itself, or of a second collector.
bool is_another_listening();

// From now on the events of all that are loaded are told; again, of those that came since. What their heaps hold
// already is listed at the next call about each. False: nothing was loaded since the last time.
bool listen_to_all();

// No more events of any.
void stop_listening();
// The same in a child after fork().
void stop_listening_in_child();

}  // namespace hbmscope::inject
