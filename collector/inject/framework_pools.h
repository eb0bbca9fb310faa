// The pools of frameworks, as their own allocators see them: XLA's and TensorFlow's (xla_pool.h), PyTorch's
// (torch_pool.h).
#pragma once

namespace hbmscope::inject {

// Looks at libraries that were loaded since the last call. Called before a library is loaded, and now and then in an
// attached job; takes the loader's lock.
void look_for_pools();
// The observer has gone.
void leave_pools();
// Called in a child after fork().
void forget_pools();

}  // namespace hbmscope::inject
