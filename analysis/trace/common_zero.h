// One clock for all streams of a trace: a time that people read counts from the first event of all of them.
#pragma once

#include "analysis/trace/trace.h"

namespace hbmscope {

// Sets the zero of each stream. Clock readings relate streams to each other; streams without any are taken to share one
// clock if their times overlap. A stream that is related to none keeps its own zero. Call it when the streams are
// known.
void share_zero(Trace& trace);

}  // namespace hbmscope
