// Finds the driver's entry points and puts ours in front of them. A program that is linked with the driver, or uses
// dlsym or cuGetProcAddress, gets ours; each of ours finds the function to call next.
#pragma once

#include <cstddef>

#include "collector/inject/driver_types.h"

namespace hbmscope::inject {

#define TAKES(name, ...) name,
#define GIVES(name, ...) name,
#define REFUSES(name, ...) name,
#define RESOLVES(name, ...) name,
enum class Entry : unsigned {
#include "collector/inject/driver_entries.inc"
  count
};
constexpr std::size_t entry_count = static_cast<std::size_t>(Entry::count);

const char* name_of(Entry entry);
// The function to call next; null if no such function is loaded.
void* find_target(Entry entry);
// What a caller gets instead of `found`, the result of cuGetProcAddress.
void* replace_found(const char* symbol, void* found, int version, driver::Flags flags);
// The same for dlsym, which returns the first function of that name; `look_up_next` finds the next one.
void* replace_looked_up(const char* name, void* found, void* (*look_up_next)(void*, const char*));
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

}  // namespace hbmscope::inject
