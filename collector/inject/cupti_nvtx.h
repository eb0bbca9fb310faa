// NVTX as reported by CUPTI: for programs whose NVTX calls go to CUPTI (NVTX_INJECTION64_PATH names libcupti) and not
// to us (nvtx_injection.cpp). Creates the same markers. Handles and ids are CUPTI's, so their meaning is stored here.
#pragma once

#include "collector/abi/cupti.h"

namespace hbmscope::inject::cupti {

using namespace hbmscope::cupti;

// The NVTX calls that CUPTI should report. Ids above `nvtx_ids_last` and unused ids in between are not calls.
constexpr CallbackId nvtx_ids_last = 42;
bool is_nvtx_reported(CallbackId id);

void report_nvtx(CallbackId id, const NvtxData& data);

}  // namespace hbmscope::inject::cupti
