// What JAX's arrays are, from the C API of its plugins (PJRT). Where the plugin's own allocator is seen, each array's
// block gets its type, shape and where it came from ("f32[8192,4096] output 3 of jit_train_step"), and each block that
// is allocated while a program is executed the program's name, as its tag: a block with a tag and no array is a
// temporary of that program. Elsewhere (TPU, CPU) each array is a block of its device's heap, and the temporaries of a
// program are one block while the host executes it, which on a device that works asynchronously is earlier than it uses
// them. Such a heap has no addresses: a block is named by the plugin's handle.
#pragma once

#include "collector/inject/pjrt_plugins.h"

namespace hbmscope::inject::pjrt {

// In place of the plugin's function.
Error* call_instead(const Plugin& plugin, Place place, void* arguments);

}  // namespace hbmscope::inject::pjrt
