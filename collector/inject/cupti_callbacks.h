// The driver's calls, told by CUPTI: on the thread that made them, before and after, with their parameters and what
// they returned. No kinds of activity are asked for, which take device memory themselves.
//
// Can be started in a process that has used the driver for long, and stopped, from any thread that is in no call of the
// driver's; any number of times. What was going on at that moment is not told.
#pragma once

#include "collector/inject/driver_symbols.h"
#include "collector/inject/line.h"

namespace hbmscope::inject {

// True: it is told by CUPTI from here on, and by nobody else (back_end.h); `words` say which CUPTI that is. False: it is not, the back end is what it was, and `words` say why: none was found, another one listens, ...
// Where it was started before nothing is changed.
bool start_cupti(Line& words);

// Nobody tells of the driver's calls any more, and CUPTI is free for the next one.
void stop_cupti();

// After a call of this thread's that CUPTI has not told of. True: somebody has ended CUPTI for all (cuptiFinalize, as
// profilers do that are done), which says nothing of it; interposition has taken over, and this call is its own.
bool is_cupti_gone(Entry entry);

// In a child after fork().
void forget_cupti_lock();

}  // namespace hbmscope::inject
