// The part of CUPTI's interface that is used, declared here because neither its library nor its headers may be
// required: the job brings the library, in its own version. collector/inject/cupti_entries_check.cpp compares this with
// NVIDIA's headers if they are available.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/abi/cuda.h"

namespace hbmscope::cupti {

using Result = int;  // CUptiResult
constexpr Result success = 0;
constexpr Result not_compatible = 14, not_initialized = 15, no_privileges = 35, has_a_subscriber = 39;

using Subscriber = void*;  // CUpti_SubscriberHandle
using CallbackId = std::uint32_t;
enum class Domain : int { driver_api = 1, nvtx = 5, state = 6 };  // CUpti_CallbackDomain
constexpr CallbackId fatal_error = 1;                             // In Domain::state: CUPTI has ended itself.

using Callback = void (*)(void* user, Domain domain, CallbackId id, const void* data);

enum class Site : int { enter = 0, exit = 1 };  // CUpti_ApiCallbackSite
struct CallbackData {                           // CUpti_CallbackData, of the driver's calls.
  Site site;
  const char* function;
  const void* parameters;  // The call's parameters, in order, as the members of a struct.
  void* result;            // Where the call returns: its cuda::Result.
  const char* symbol;
  cuda::Object context;        // The thread's context, if it has one.
  std::uint32_t context_uid;   // Never reused in the process.
  std::uint64_t* correlation;  // We write it at the beginning of the call and read it at the end.
  std::uint32_t correlation_id;
};
struct NvtxData {  // CUpti_NvtxData
  const char* function;
  const void* parameters;
  const void* result;
};
struct StateData {  // CUpti_StateData
  Result result;
  const char* message;
};

struct SubscriberParameters {  // CUpti_SubscriberParams
  std::size_t struct_bytes;
  const char* name;
  char* old_name;  // CUPTI writes the name of the listener that holds it here.
  std::size_t old_name_bytes;
  std::uint8_t may_have_others;  // Since version 13.3.
  std::uint8_t padding[7];
};
constexpr std::size_t subscriber_bytes_before_13_3 = 32;
constexpr std::uint32_t version_13_3 = 130300;
constexpr std::size_t old_name_bytes_min = 64;

}  // namespace hbmscope::cupti
