// What the parts of the pretend CUPTI share.
#pragma once

#include <atomic>

#include "collector/inject/cupti_types.h"

// Whoever has the callback enabled.
void tell_listeners(hbmscope::inject::cupti::Domain domain, hbmscope::inject::cupti::CallbackId id, const void* told);
