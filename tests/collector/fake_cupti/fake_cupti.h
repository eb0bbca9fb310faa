// Declarations shared by the parts of the fake CUPTI.
#pragma once

#include <atomic>

#include "collector/abi/cupti.h"

// Calls every listener that has enabled the callback.
void notify_listeners(hbmscope::cupti::Domain domain, hbmscope::cupti::CallbackId id, const void* reported);
