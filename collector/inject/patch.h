// Replaces addresses of functions in other libraries, in memory that the loader may have made read-only.
#pragma once

#include <cstdint>

namespace hbmscope::inject {

// One store, so that a call sees the old function or the new one. False: the memory can't be made writable.
bool store_word(std::uintptr_t* at, std::uintptr_t value);

}  // namespace hbmscope::inject
