// Finds the driver's entry points and puts ours in front of them. A program that is linked with the driver, or uses
// dlsym or cuGetProcAddress, gets ours; each of ours finds the function to call next. "The driver" is also AMD's HIP
// runtime, for the entry points of that API.
#pragma once

#include "collector/abi/cuda.h"
#include "collector/inject/driver_targets.h"

namespace hbmscope::inject {

// A call of cuGetProcAddress, or of HIP's, that has succeeded.
struct FoundFunction {
  Api api;
  const char* symbol;
  void* found;
  int version;
  cuda::Flags flags;
  const void* finder;   // The function that was called.
  const void* caller;   // The code that has called it.
  bool is_inside_call;  // It is inside a call of another of our entry points.
};
// What the caller gets instead.
void* replace_found(const FoundFunction& call);
// Whether we have an entry point of that name.
bool is_entry_point(const char* name);
// The same as replace_found() for dlsym, which returns the first function of that name; `look_up_next` finds the next
// one.
void* replace_looked_up(const char* name, void* found, void* (*look_up_next)(void*, const char*), const void* caller);
// A function of the driver was found.
void note_driver(Api api, const void* address);
bool is_driver_known(Api api);
// Called after a library may have been unloaded: the driver's addresses may now belong to something else.
void forget_unloaded_driver();

// What we call for ourselves, in the driver that was found last, not intercepted.
enum class Helper : unsigned {
  device,        // The calling thread's.
  context,       // CUDA only.
  graph_memory,  // What the driver holds for graphs.
  is_capturing,
  pool_figure,
  pool_of_device,
  free_memory,
  range_of_address,
  device_count,
  uuid,             // HIP only: CUDA has two (device_uuids.cpp).
  runtime_version,  // HIP only, as are the next two.
  last_error,       // Does not change it.
  forget_last_error,
  count
};
// Null if the driver does not have it. Found once.
void* find_helper(Api api, Helper which);
// Any other function, looked up each time.
void* find_helper(Api api, const char* name);

}  // namespace hbmscope::inject
