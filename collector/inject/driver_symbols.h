// Finds the driver's entry points and puts ours in front of them. A program that is linked with the driver, or uses
// dlsym or cuGetProcAddress, gets ours; each of ours finds the function to call next.
#pragma once

#include "collector/inject/driver_targets.h"
#include "collector/inject/driver_types.h"

namespace hbmscope::inject {

// A call of cuGetProcAddress that has succeeded.
struct FoundFunction {
  const char* symbol;
  void* found;
  int version;
  driver::Flags flags;
  const void* finder;   // The function that was called.
  const void* caller;   // The code that has called it.
  bool is_inside_call;  // Of another of our entry points.
};
// What the caller gets instead.
void* replace_found(const FoundFunction& call);
// Whether we have an entry point of that name.
bool is_entry_point(const char* name);
// The same as replace_found() for dlsym, which returns the first function of that name; `look_up_next` finds the next
// one.
void* replace_looked_up(const char* name, void* found, void* (*look_up_next)(void*, const char*), const void* caller);
// A function of the driver was found.
void note_driver(const void* address);
// Called after a library may have been unloaded: the driver's addresses may now belong to something else.
void forget_unloaded_driver();
// A function of the driver that was found last, not intercepted. Null if the driver does not have it.
void* find_helper(const char* name);
// The same for cuCtxGetDevice, which is needed for every block.
void* find_device_helper();
// The same for cuCtxGetCurrent; null if the driver has none.
void* find_context_helper();
// The same for cuDeviceGetGraphMemAttribute; null if the driver has none.
void* find_graph_helper();
// The same for cuStreamIsCapturing.
void* find_capture_helper();
// The same for cuMemPoolGetAttribute.
void* find_pool_helper();

}  // namespace hbmscope::inject
