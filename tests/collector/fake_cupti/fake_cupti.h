// Declarations shared by the parts of the fake CUPTI.
#pragma once

#include <atomic>

#include "collector/inject/cupti_types.h"

// Calls every listener that has enabled the callback.
void notify_listeners(hbmscope::inject::cupti::Domain domain, hbmscope::inject::cupti::CallbackId id,
                      const void* reported);
