// NVTX as CUPTI reports it: for programs whose NVTX was given to CUPTI (NVTX_INJECTION64_PATH names libcupti) and not
// to us (nvtx_injection.cpp). It makes the same markers. Handles and ids are CUPTI's, so their meaning is kept here.
#pragma once

#include "collector/inject/cupti_types.h"

namespace hbmscope::inject::cupti {

// The NVTX calls that CUPTI shall report; ids after `nvtx_ids_last` and unused ids in between are no calls.
constexpr CallbackId nvtx_ids_last = 42;
bool is_nvtx_told(CallbackId id);

void tell_nvtx(CallbackId id, const NvtxData& told);

}  // namespace hbmscope::inject::cupti
