// For the libraries on top of the runtime: each exports its handles, versions and the few functions whose output
// arguments callers use; all others come from its table in entry_points. A status of 0 is success in all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "allocator/emulated/cuda/exported.h"

namespace hbmscope::device::libraries {

using Status = int;
using Handle = void*;
inline constexpr Status success = 0;

// The settings of one handle. Descriptors need a place of their own too.
struct Settings {
  Handle stream = nullptr;
  int math_mode = 0, pointer_mode = 0, atomics_mode = 0, sm_target = 0;
};
Status create(Handle* out);
Status destroy(Handle handle);
bool is_handle(Handle handle);  // create() has made it, and it was not destroyed.
inline Settings& settings_of(Handle handle) {
  return *static_cast<Settings*>(handle);
}

// libraryPropertyType: 0 major, 1 minor, 2 patch.
inline Status write_property(int which, int major, int minor, int patch, int* value) {
  *value = which == 0 ? major : which == 1 ? minor : patch;
  return success;
}

// A function of the emulated driver, or null if this process hasn't loaded it.
void* find_in_driver(const char* name);
// An empty kernel on a stream of the driver.
void launch_on(Handle stream);

}  // namespace hbmscope::device::libraries
