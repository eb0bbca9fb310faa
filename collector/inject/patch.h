// Replaces addresses of functions in other libraries, in memory that the loader may have made read-only.
#pragma once

#include <cstdint>

namespace hbmscope::inject {

// One store, so that a call sees the old function or the new one. False: the memory can't be made writable.
bool store_word(std::uintptr_t* at, std::uintptr_t value);

// Where a library keeps the address of a function of another one, which it calls by name (DT_JMPREL).
struct FunctionSlot {
  const char* name;
  std::uintptr_t* at;
};
// Calls `take` for each such slot of the loaded libraries for whose path `is_wanted` returns true. With the loader's
// lock held.
void for_each_function_slot(bool (*is_wanted)(const char* path, void* data),
                            void (*take)(const FunctionSlot& slot, void* data), void* data = nullptr);

}  // namespace hbmscope::inject
