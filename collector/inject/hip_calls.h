// What is different with AMD's HIP runtime:
//
// - A thread has a current device (hipGetDevice) and no context. hipDeviceReset ends all memory on the thread's device,
//   that of pools too, but neither pinned nor managed memory, which belongs to all devices.
// - Each call of the runtime changes the thread's last error (hipGetLastError): since HIP 7 only if it fails, before
// also
//   if it succeeds. So the device is queried before the program's call, whose result then replaces ours, and nothing is
//   queried after a call that has failed, but for the free memory with HIP 7. What we query after a call that has
//   succeeded must succeed, too; if it does not, its error is cleared. While an older error waits to be read,
//   nothing is queried.
#pragma once

#include "collector/inject/driver_rows.h"

namespace hbmscope::inject::driver {

// The program has made it the thread's device.
void note_device(Device device);
// As it was last queried or set on this thread; 0, the runtime's own choice, if it never was.
Device remembered_device();

// After a call on this thread has run out of memory. False: it can't be queried without changing the last error.
bool find_free_bytes_after_failure(Size& free);

// Stands for the context of the device's blocks, or null if it is none of the devices that we know.
Object context_of_device(Device device);
// The thread's device was reset: its blocks, pools and variables of modules are gone.
void end_device(const DriverCall& call);

Size array_bytes(const ChannelFormat& format, const Extent& extent, unsigned flags, unsigned levels = 1);

}  // namespace hbmscope::inject::driver
