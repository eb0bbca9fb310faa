// What the blocks of XLA's pool are, from the C API of the plugin (PJRT): each array gets its type, shape and where it
// came from ("f32[8192,4096] output 3 of jit_train_step"), and each block that is allocated while a program is executed
// the program's name, as its tag. A block with a tag and no array is a temporary of that program.
//
// The plugin has one table of functions, which is patched in place.
#pragma once

namespace hbmscope::inject {

// `library` is loaded, and any address in it; does nothing if it is no plugin.
void take_pjrt_of(const void* address_in_library);
// Puts everything back.
void leave_pjrt();
// Called in a child after fork(), and when the rings are new: ids of texts are of earlier rings.
void forget_pjrt_texts();

}  // namespace hbmscope::inject
