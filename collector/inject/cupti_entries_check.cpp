// Compiled if CUPTI's headers are there: cupti.h of collector/abi, the numbers in cupti_driver_ids.inc and the layout
// of parameters in cupti_parameters.h must agree with them.
#include <cupti.h>

#include <cstddef>
#include <type_traits>

#include "collector/abi/cupti.h"
#include "collector/inject/cupti_parameters.h"

namespace hbmscope::inject::cupti {

using namespace hbmscope::cupti;

static_assert(CUPTI_SUCCESS == success && CUPTI_ERROR_NOT_COMPATIBLE == not_compatible &&
              CUPTI_ERROR_NOT_INITIALIZED == not_initialized && CUPTI_ERROR_INSUFFICIENT_PRIVILEGES == no_privileges &&
              CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED == has_a_subscriber);
static_assert(sizeof(CUptiResult) == sizeof(Result) && sizeof(CUpti_SubscriberHandle) == sizeof(Subscriber) &&
              sizeof(CUpti_CallbackDomain) == sizeof(Domain) && sizeof(CUpti_CallbackId) == sizeof(CallbackId));
static_assert(CUPTI_CB_DOMAIN_DRIVER_API == int(Domain::driver_api) && CUPTI_CB_DOMAIN_NVTX == int(Domain::nvtx));
static_assert(CUPTI_API_ENTER == int(Site::enter) && CUPTI_API_EXIT == int(Site::exit));

#define SAME_PLACE(theirs, their_field, ours, field)                      \
  static_assert(offsetof(theirs, their_field) == offsetof(ours, field) && \
                sizeof(theirs::their_field) == sizeof(ours::field))
static_assert(sizeof(CUpti_CallbackData) == sizeof(CallbackData));
SAME_PLACE(CUpti_CallbackData, callbackSite, CallbackData, site);
SAME_PLACE(CUpti_CallbackData, functionName, CallbackData, function);
SAME_PLACE(CUpti_CallbackData, functionParams, CallbackData, parameters);
SAME_PLACE(CUpti_CallbackData, functionReturnValue, CallbackData, result);
SAME_PLACE(CUpti_CallbackData, context, CallbackData, context);
SAME_PLACE(CUpti_CallbackData, contextUid, CallbackData, context_uid);
SAME_PLACE(CUpti_CallbackData, correlationData, CallbackData, correlation);
// As in cupti_nvtx.cpp.
static_assert(CUPTI_CBID_NVTX_nvtxMarkA == 1 && CUPTI_CBID_NVTX_nvtxMarkW == 2 && CUPTI_CBID_NVTX_nvtxMarkEx == 3 &&
              CUPTI_CBID_NVTX_nvtxRangeStartA == 4 && CUPTI_CBID_NVTX_nvtxRangeStartW == 5 &&
              CUPTI_CBID_NVTX_nvtxRangeStartEx == 6 && CUPTI_CBID_NVTX_nvtxRangeEnd == 7 &&
              CUPTI_CBID_NVTX_nvtxRangePushA == 8 && CUPTI_CBID_NVTX_nvtxRangePushW == 9 &&
              CUPTI_CBID_NVTX_nvtxRangePushEx == 10 && CUPTI_CBID_NVTX_nvtxRangePop == 11 &&
              CUPTI_CBID_NVTX_nvtxDomainMarkEx == 30 && CUPTI_CBID_NVTX_nvtxDomainRangeStartEx == 31 &&
              CUPTI_CBID_NVTX_nvtxDomainRangeEnd == 32 && CUPTI_CBID_NVTX_nvtxDomainRangePushEx == 33 &&
              CUPTI_CBID_NVTX_nvtxDomainRangePop == 34 && CUPTI_CBID_NVTX_nvtxDomainRegisterStringA == 39 &&
              CUPTI_CBID_NVTX_nvtxDomainRegisterStringW == 40 && CUPTI_CBID_NVTX_nvtxDomainCreateA == 41 &&
              CUPTI_CBID_NVTX_nvtxDomainCreateW == 42);
SAME_PLACE(CUpti_NvtxData, functionParams, NvtxData, parameters);
SAME_PLACE(CUpti_NvtxData, functionReturnValue, NvtxData, result);

#if CUPTI_API_VERSION >= 20  // Since CUDA 12.2
static_assert(CUPTI_CB_DOMAIN_STATE == int(Domain::state) && CUPTI_CBID_STATE_FATAL_ERROR == fatal_error);
static_assert(offsetof(CUpti_StateData, notification.message) == offsetof(StateData, message));
#endif
#if CUPTI_API_VERSION >= 130000
SAME_PLACE(CUpti_SubscriberParams, structSize, SubscriberParameters, struct_bytes);
SAME_PLACE(CUpti_SubscriberParams, subscriberName, SubscriberParameters, name);
SAME_PLACE(CUpti_SubscriberParams, oldSubscriberName, SubscriberParameters, old_name);
SAME_PLACE(CUpti_SubscriberParams, oldSubscriberSize, SubscriberParameters, old_name_bytes);
static_assert(CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN == old_name_bytes_min);
#if CUPTI_API_VERSION >= 130300
static_assert(sizeof(CUpti_SubscriberParams) == sizeof(SubscriberParameters));
SAME_PLACE(CUpti_SubscriberParams, allowMultipleSubscribers, SubscriberParameters, may_have_others);
#else
static_assert(sizeof(CUpti_SubscriberParams) == subscriber_bytes_before_13_3);
#endif
#endif

// Older versions do not know all entry points.
#if CUPTI_API_VERSION >= 130500
#define ID(name, number) static_assert(CUPTI_DRIVER_TRACE_CBID_##name == number);
#define CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc_v2 271  // Was in a header, never in a driver.
#include "collector/inject/cupti_driver_ids.inc"

// Members of the same sizes and alignments in the same order are at the same offsets.
template <class... Types>
constexpr auto forms_of(const Types&...) {
  struct Forms {
    std::size_t forms[sizeof...(Types)][2];
  };
  return Forms{{{sizeof(Types), alignof(Types)}...}};
}
template <class Function>
struct FormsOf;
template <class... Types>
struct FormsOf<cuda::Result (*)(Types...)> {
  static constexpr auto forms = forms_of(std::remove_cvref_t<Types>{}...);
};

#define MEMBERS(count, ...)             \
  if constexpr (members == count) {     \
    const auto& [__VA_ARGS__] = theirs; \
    return forms_of(__VA_ARGS__);       \
  }
template <std::size_t members, class Theirs>
constexpr auto forms_of_members(const Theirs& theirs) {
  MEMBERS(1, a)
  MEMBERS(2, a, b)
  MEMBERS(3, a, b, c)
  MEMBERS(4, a, b, c, d)
  MEMBERS(5, a, b, c, d, e)
  MEMBERS(6, a, b, c, d, e, f)
  MEMBERS(8, a, b, c, d, e, f, g, h)
  MEMBERS(11, a, b, c, d, e, f, g, h, i, j, k)
}

template <class Function, class Theirs>
constexpr bool is_laid_out_like() {
  using Ours = Parameters<Function>;
  if (Ours::layout.bytes != sizeof(Theirs)) return false;
  const auto theirs = forms_of_members<Ours::count>(Theirs{});
  const auto ours = FormsOf<Function>::forms;
  for (std::size_t i = 0; i < Ours::count; ++i)
    if (ours.forms[i][0] != theirs.forms[i][0] || ours.forms[i][1] != theirs.forms[i][1]) return false;
  return true;
}

using namespace driver;
using cuMemHostAlloc_v2_params = cuMemHostAlloc_params;
#define ALLOCATES(name, since, parameters, ...) \
  static_assert(is_laid_out_like<cuda::Result(*) parameters, name##_params>());
#define FREES ALLOCATES
#include "collector/inject/driver_entries.inc"
#endif

}  // namespace hbmscope::inject::cupti
