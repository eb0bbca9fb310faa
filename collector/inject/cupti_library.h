// The job's CUPTI: found and loaded at run time, never linked.
#pragma once

#include "collector/abi/cupti.h"
#include "collector/inject/line.h"

namespace hbmscope::inject::cupti {

using namespace hbmscope::cupti;

struct Library {
  Result (*get_version)(std::uint32_t* version);
  Result (*subscribe)(Subscriber* subscriber, Callback callback, void* data);
  Result (*unsubscribe)(Subscriber subscriber);
  Result (*enable_callback)(std::uint32_t enable, Subscriber subscriber, Domain domain, CallbackId id);
  Result (*get_callback_state)(std::uint32_t* enabled, Subscriber subscriber, Domain domain, CallbackId id);
  Result (*get_device_id)(cuda::Object context, std::uint32_t* device);
  // Null before version 13.0. Names the listener that holds CUPTI; since 13.3 there can be several.
  Result (*subscribe_v2)(Subscriber* subscriber, Callback callback, void* data, SubscriberParameters* parameters);

  std::uint32_t version;  // 18 to 28 for CUDA 12; since CUDA 13: 130000 and so on.
  char path[512];
};

// The library that the job has loaded; otherwise one of the job's major version, next to its CUDA runtime, in the
// wheels that its libraries came from, or on the loader's path; otherwise an older one that the driver supports. False:
// `words` say why not. It stays loaded.
bool load(Library& library, Line& words);

// Guesses from the loaded libraries which one holds CUPTI; adds nothing if none is known.
void add_likely_holder(Line& words);

}  // namespace hbmscope::inject::cupti
