// The entry points themselves, made from all_entries.inc: each calls the driver's, returns its result, and records
// the call.
#include "collector/inject/driver_graphs.h"
#include "collector/inject/driver_pools.h"
#include "collector/inject/driver_rows.h"
#include "collector/inject/hip_calls.h"

#define EXPORTED __attribute__((visibility("default")))

namespace hbmscope::inject::driver {

#define FIND_TARGET(name, parameters)                                        \
  const Target next = find_target(Entry::name);                              \
  const auto target = reinterpret_cast<Result(*) parameters>(next.function); \
  if (target == nullptr) return error_no_device

// What must be known before something ends.
template <Entry entry, class... Arguments>
void before_freeing(const FreeingCall& call, Arguments... arguments) {
  if constexpr (entry == Entry::cuMemPoolDestroy || entry == Entry::hipMemPoolDestroy) {
    if (call.since != 0) retire_pool(arguments...);
  } else if constexpr (entry == Entry::hipDeviceReset) {
    if (call.since != 0) retire_pools(call);
  }
}

#define WITH_CALL(...) (call __VA_OPT__(, ) __VA_ARGS__)

#define ALLOCATES(name, since, parameters, arguments, requested, ...) \
  extern "C" EXPORTED Result name parameters {                        \
    FIND_TARGET(name, parameters);                                    \
    const UsingCall call(Entry::name, next.place);                    \
    const Result result = target arguments;                           \
    if (result == success) {                                          \
      if (call.is_reported()) __VA_ARGS__;                            \
    } else if (result == error_out_of_memory && call.is_reported()) { \
      call.refuse(requested);                                         \
    }                                                                 \
    return result;                                                    \
  }
#define FREES(name, since, parameters, arguments, ...)                       \
  extern "C" EXPORTED Result name parameters {                               \
    FIND_TARGET(name, parameters);                                           \
    FreeingCall call(Entry::name, next.place);                               \
    before_freeing<Entry::name> WITH_CALL arguments;                         \
    const Result result = target arguments;                                  \
    if (result == success && call.frees()) __VA_ARGS__;                      \
    if (result == error_out_of_memory && call.is_reported()) call.refuse(0); \
    return result;                                                           \
  }
#define REFUSES(name, since, parameters, arguments)                          \
  extern "C" EXPORTED Result name parameters {                               \
    FIND_TARGET(name, parameters);                                           \
    const UsingCall call(Entry::name, next.place);                           \
    const Result result = target arguments;                                  \
    if (result == error_out_of_memory && call.is_reported()) call.refuse(0); \
    return result;                                                           \
  }
#define RUNS(name, since, parameters, arguments, ...)                        \
  extern "C" EXPORTED Result name parameters {                               \
    FIND_TARGET(name, parameters);                                           \
    const RunningCall call(Entry::name, next.place);                         \
    const Result result = target arguments;                                  \
    __VA_OPT__(if (result == success && call.is_reported()) __VA_ARGS__;)    \
    if (result == error_out_of_memory && call.is_reported()) call.refuse(0); \
    return result;                                                           \
  }
#define RESOLVES(name, since, parameters, arguments)                                          \
  extern "C" EXPORTED Result name parameters {                                                \
    FIND_TARGET(name, parameters);                                                            \
    const InterposedCall call(Entry::name, next.place);                                       \
    const Result result = target arguments;                                                   \
    if (result == success && symbol != nullptr && out != nullptr && *out != nullptr)          \
      *out = replace_found({api_of(Entry::name), symbol, *out, version, flags, next.function, \
                            __builtin_return_address(0), call.is_inside_another()});          \
    return result;                                                                            \
  }
#include "collector/inject/all_entries.inc"

}  // namespace hbmscope::inject::driver
