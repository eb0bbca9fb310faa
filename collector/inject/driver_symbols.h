// Whose entry points of the driver are called: a program's that is linked with it, that asks dlsym, or that asks
// cuGetProcAddress, gets ours, and each of ours knows where to go on.
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
// Where the call goes on; null where no such function is loaded.
void* find_target(Entry entry);
// What a caller should get in the place of `found`, which cuGetProcAddress gave out.
void* replace_found(const char* symbol, void* found, int version, driver::Flags flags);
// The same for dlsym, which answers with whatever comes first, where `look_up_next` has to say who comes next.
void* replace_looked_up(const char* name, void* found, void* (*look_up_next)(void*, const char*));
// After a library may have been unloaded: where the driver was, there may be anything.
void forget_unloaded_driver();
// A function of the driver whose entry points were found last; not intercepted. Null where it has none.
void* find_helper(const char* name);
// The same for cuCtxGetDevice, which is asked for with every block.
void* find_device_helper();
// And for cuCtxGetCurrent; null where the driver has none.
void* find_context_helper();
// And for cuDeviceGetGraphMemAttribute; null where the driver has none.
void* find_graph_helper();
// And for cuStreamIsCapturing, likewise.
void* find_capture_helper();

}  // namespace hbmscope::inject
