// What a recording stores about this process: its command, its rank, and the variables that affect device memory.
// Nothing else of its environment is recorded, because it may contain secrets. The job reports this itself, because it
// may end or become another program before the observer can read /proc.
#pragma once

#include "collector/wire/reported_variables.h"

namespace hbmscope::inject {

// Called right after the rings were opened. Anything that can't be read, as in a chroot without /proc, is left out.
void report_process_facts();

// Called when these readers, which may be several, have just read their variables: what a program sets later has no
// effect on them. Also reports what has been set too late since the last call; with no readers, only that. May be
// called while there are no rings: the values are kept until there are.
void note_variables(unsigned readers);

// Called in a child after fork().
void forget_process_facts_lock();

}  // namespace hbmscope::inject
