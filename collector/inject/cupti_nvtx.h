// NVTX as CUPTI tells of it: where the program's NVTX was given to CUPTI (NVTX_INJECTION64_PATH names libcupti), and
// not to us (nvtx_injection.cpp). The same markers come of it. Handles and numbers are CUPTI's, so what they mean is
// kept.
#pragma once

#include "collector/inject/cupti_types.h"

namespace hbmscope::inject::cupti {

// Of which calls CUPTI is asked to tell; a call's number after `nvtx_ids_last` or in between is none.
constexpr CallbackId nvtx_ids_last = 42;
bool is_nvtx_told(CallbackId id);

void tell_nvtx(CallbackId id, const NvtxData& told);

}  // namespace hbmscope::inject::cupti
