// JAX's device memory profile as a trace, so that it can be joined with other files of its job: the arrays that it
// lists, with their stacks, as blocks of one heap per device. It has no addresses and one time only.
#pragma once

#include <optional>

#include "analysis/model/profile.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// Nothing if it isn't a device memory profile of JAX (is_device_memory_profile). A sample lists arrays of one size
// (jaxlib/py_client.cc, PyClient::HeapProfile), each of which becomes a block; beyond a million, those of a sample are
// one. Compiled programs, which are in no pool, are counted in the import statistics.
std::optional<Trace> trace_from_profile(const Profile& profile);

}  // namespace hbmscope
