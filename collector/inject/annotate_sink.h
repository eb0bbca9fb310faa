// Listens to programs that include collector/annotate/hbmscope.h: fills their tables, and turns their calls into rows.
#pragma once

#define HBMSCOPE_LISTENER
#include "collector/annotate/hbmscope.h"

namespace hbmscope::inject {

// Finds the tables of all programs and libraries that are loaded. `visit` is called once for each.
void find_annotated_tables(void (*visit)(hbmscope_table*));

// From now on the module's events are told. What its heaps hold already is listed at the next call about each.
void listen_to(hbmscope_table* table);

// In a child after fork(): no more events of any module that was listened to.
void stop_listening();

}  // namespace hbmscope::inject
