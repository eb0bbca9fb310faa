// Listens to programs that include collector/annotate/hbmscope.h: fills their tables and turns their calls into rows.
#pragma once

#include <cstdint>

#define HBMSCOPE_LISTENER
#include "collector/annotate/hbmscope.h"

namespace hbmscope::inject {

// True if any loaded program or library has a table.
bool has_annotated_tables();
// True if this loaded library has one; `headers`: its program headers.
bool has_annotated_table(const void* headers);

// True if a table is already filled by another listener: by the program itself (hbmscope_serve.h), or by a second
// collector.
bool is_another_listening();

// Starts recording the events of all loaded modules; later calls add modules loaded since. The present contents of a
// heap are listed at the next call for that heap. Returns false if nothing was loaded since the last time.
bool listen_to_all();

// How the stack of the calling thread is taken, for heaps that want it (HBMSCOPE_LISTENER_FILLS_IN). Before
// listen_to_all().
void take_stacks_with(std::uint32_t (*take)());

// Stops recording the events of all modules.
void stop_listening();
// The same in a child after fork().
void stop_listening_in_child();

}  // namespace hbmscope::inject
