// The driver's calls, reported by CUPTI: on the thread that made them, before and after, with their parameters and
// results. No activity kinds are enabled, because these take device memory themselves.
//
// Can be started and stopped any number of times, also in a process that has used the driver for long, from any thread
// that is not in a driver call. A call that is in progress at that moment is not reported.
#pragma once

#include "collector/inject/driver_symbols.h"
#include "collector/inject/line.h"

namespace hbmscope::inject {

// True: from here on CUPTI reports the calls, and nobody else (back_end.h); `words` name the CUPTI version. False:
// nothing changed, and `words` say why: none was found, another listener has it, ... Does nothing if it was started
// before.
bool start_cupti(Line& words);

// Stops the reports, and releases CUPTI for the next user.
void stop_cupti();

// Called after a driver call of this thread that CUPTI did not report. True: somebody ended CUPTI for everybody
// (cuptiFinalize, as profilers do when they are done), about which CUPTI says nothing; interposition has taken over,
// and this call is its first.
bool is_cupti_gone(Entry entry);

// Called in a child after fork().
void forget_cupti_lock();

}  // namespace hbmscope::inject
