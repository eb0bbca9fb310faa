// What XLA's allocators are like from outside: how their classes are returned, and what their names, numbers and
// settings mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "collector/wire/records.h"

namespace hbmscope::inject {

// For a function whose result is a class, which it writes to an address: the first argument on x86-64, the register x8
// on aarch64 (AAPCS64, 6.9). What lies behind the class stays as it is.
inline void call_into(void* result, std::uintptr_t function, const void* self) {
#if defined(__aarch64__)
  register const void* first asm("x0") = self;
  register void* into asm("x8") = result;
  __asm__ volatile("blr %2"
                   : "+r"(first), "+r"(into)
                   : "r"(function)
                   : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
                     "x17", "x18", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
                     "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25",
                     "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");
#else
  reinterpret_cast<void* (*)(void*, const void*)>(function)(result, self);
#endif
}

// std::string of libstdc++, which these libraries are built with: a pointer, a length, and sixteen bytes for short
// texts. A long text's memory is not ours to free, so it leaks: once for each instance.
struct Text {
  const char* text;
  std::size_t length;
  char here[16];
};

inline const char* kind_of_memory(int type) {  // tsl::AllocatorMemoryType
  switch (type) {
    case 2: return "host";
    case 3: return "host_pinned";
    default: return "device";
  }
}

// "GPU_3_bfc" is of device 3.
inline std::uint32_t device_from_name(const char* name) {
  while (*name != 0 && (*name < '0' || *name > '9')) ++name;
  if (*name == 0) return wire::no_device;
  std::uint32_t device = 0;
  for (; *name >= '0' && *name <= '9' && device < 1000; ++name)
    device = device * 10 + static_cast<std::uint32_t>(*name - '0');
  return device;
}

inline bool is_off(const char* value) {
  return value != nullptr && (*value == '0' || *value == 'f' || *value == 'F');
}

// Whether one region serves two memory spaces, from its ends: not if the pool grows, or if the user has turned it off.
// The last of several flags counts.
inline bool are_pools_partitioned() {
  if (is_off(std::getenv("XLA_PYTHON_CLIENT_PREALLOCATE"))) return false;
  constexpr const char* flag = "--xla_gpu_enable_allocator_spatial_partitioning=";
  const char* value = nullptr;
  const char* flags = std::getenv("XLA_FLAGS");
  for (const char* at = flags; at != nullptr && (at = std::strstr(at, flag)) != nullptr;)
    value = at += std::strlen(flag);
  return !is_off(value);
}

}  // namespace hbmscope::inject
