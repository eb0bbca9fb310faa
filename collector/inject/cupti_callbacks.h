// Driver calls reported by CUPTI: on the thread that makes them, before and after each call, with parameters and
// result. No activity kinds are enabled, because these take device memory themselves.
//
// Can be started and stopped any number of times, even in a process that has used the driver for long, from any thread
// that is not in a driver call. A call in progress at that time is not reported.
#pragma once

#include "collector/inject/driver_symbols.h"
#include "collector/inject/line.h"

namespace hbmscope::inject {

// True: from here on only CUPTI reports the calls (back_end.h), and `words` name its version. False: nothing changed,
// and `words` say why: CUPTI was not found, another listener has it, ... Does nothing if it was started before.
bool start_cupti(Line& words);

// Stops the reports, and releases CUPTI for the next user.
void stop_cupti();

// Called after a driver call of this thread that CUPTI did not report. True: somebody ended CUPTI for everyone
// (cuptiFinalize, as profilers do when they are done), which CUPTI does not announce; interposition has taken over,
// starting with this call.
bool is_cupti_gone(Entry entry);

// Called in a child after fork().
void forget_cupti_lock();

}  // namespace hbmscope::inject
