// Compiled if NVTX's headers are there: nvtx.h must agree with them.
#include "collector/abi/nvtx.h"

#include <nvtx3/nvToolsExt.h>

#include <cstddef>

namespace hbmscope::nvtx {

static_assert(NVTX_CB_MODULE_CORE == int(Module::core) && NVTX_CB_MODULE_CORE2 == int(Module::core2) &&
              NVTX_ETID_CALLBACKS == callbacks_table && NVTX_NO_PUSH_POP_TRACKING == is_not_tracked);
static_assert(offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable) == offsetof(Callbacks, get_table));
static_assert(NVTX_CBID_CORE_MarkEx == core::mark_ex && NVTX_CBID_CORE_MarkA == core::mark_a &&
              NVTX_CBID_CORE_MarkW == core::mark_w && NVTX_CBID_CORE_RangeStartEx == core::start_ex &&
              NVTX_CBID_CORE_RangeStartA == core::start_a && NVTX_CBID_CORE_RangeStartW == core::start_w &&
              NVTX_CBID_CORE_RangeEnd == core::end && NVTX_CBID_CORE_RangePushEx == core::push_ex &&
              NVTX_CBID_CORE_RangePushA == core::push_a && NVTX_CBID_CORE_RangePushW == core::push_w &&
              NVTX_CBID_CORE_RangePop == core::pop);
static_assert(NVTX_CBID_CORE2_DomainMarkEx == core2::mark_ex && NVTX_CBID_CORE2_DomainRangeStartEx == core2::start_ex &&
              NVTX_CBID_CORE2_DomainRangeEnd == core2::end && NVTX_CBID_CORE2_DomainRangePushEx == core2::push_ex &&
              NVTX_CBID_CORE2_DomainRangePop == core2::pop &&
              NVTX_CBID_CORE2_DomainRegisterStringA == core2::register_a &&
              NVTX_CBID_CORE2_DomainRegisterStringW == core2::register_w &&
              NVTX_CBID_CORE2_DomainCreateA == core2::create_a && NVTX_CBID_CORE2_DomainCreateW == core2::create_w);
static_assert(NVTX_MESSAGE_TYPE_ASCII == int(MessageType::ascii) &&
              NVTX_MESSAGE_TYPE_UNICODE == int(MessageType::wide) &&
              NVTX_MESSAGE_TYPE_REGISTERED == int(MessageType::registered));
static_assert(sizeof(nvtxEventAttributes_t) == sizeof(EventAttributes) &&
              offsetof(nvtxEventAttributes_t, messageType) == offsetof(EventAttributes, message_type) &&
              offsetof(nvtxEventAttributes_t, message) == offsetof(EventAttributes, message));

}  // namespace hbmscope::nvtx
