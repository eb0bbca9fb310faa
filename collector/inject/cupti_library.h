// The job's CUPTI: found and loaded at run time, never linked.
#pragma once

#include "collector/inject/cupti_types.h"
#include "collector/inject/line.h"

namespace hbmscope::inject::cupti {

struct Library {
  Result (*get_version)(std::uint32_t* version);
  Result (*subscribe)(Subscriber* subscriber, Callback callback, void* data);
  Result (*unsubscribe)(Subscriber subscriber);
  Result (*enable_callback)(std::uint32_t enable, Subscriber subscriber, Domain domain, CallbackId id);
  Result (*get_callback_state)(std::uint32_t* enabled, Subscriber subscriber, Domain domain, CallbackId id);
  Result (*get_device_id)(driver::Object context, std::uint32_t* device);
  // Since version 13.0, otherwise null: it names who is in the way, and from 13.3 on there may be several.
  Result (*subscribe_v2)(Subscriber* subscriber, Callback callback, void* data, SubscriberParameters* parameters);

  std::uint32_t version;  // 18 to 28: of CUDA 12; from 13 on 130000 and so on.
  char path[512];
};

// The one that the job has loaded; else one of the job's major version, beside its CUDA runtime, in the wheels that its
// own libraries came from, or on the loader's path; else an older one that goes with the driver. False: the words say
// why not. It stays loaded.
bool load(Library& library, Line& words);

// Who it may be that has CUPTI already, by what is loaded; adds nothing where nobody is known.
void add_likely_holder(Line& words);

}  // namespace hbmscope::inject::cupti
