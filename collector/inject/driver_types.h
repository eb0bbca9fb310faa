// The types of the CUDA driver API that its memory calls use, declared here because a collector must build without a
// toolkit. driver_types_check.cpp compares them with cuda.h if it is available.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmscope::inject::driver {

using Result = int;                // CUresult
using Address = std::uint64_t;     // CUdeviceptr
using Address32 = std::uint32_t;   // CUdeviceptr_v1: before version 3.2 devices had no larger addresses.
using Size = std::size_t;          // Bytes.
using Device = int;                // CUdevice: an ordinal.
using MemHandle = std::uint64_t;   // CUmemGenericAllocationHandle
using Flags = unsigned long long;  // cuuint64_t
using Object = void*;              // CUcontext, CUstream, CUarray, ...: pointers to the driver's objects.

constexpr Result success = 0;
constexpr Result out_of_memory = 2;
constexpr Result no_device = 100;

enum class LocationType : int { none = 0, device = 1, host = 2, host_numa = 3, host_numa_current = 4 };
struct Location {  // CUmemLocation
  LocationType type;
  int id;
};
struct AllocationProperties {  // CUmemAllocationProp
  int type, handle_types;
  Location location;
  void* win32;
  std::uint8_t flags[8];
};
constexpr int managed_allocation = 2;
struct PoolProperties {  // CUmemPoolProps
  int type, handle_types;
  Location location;
  void* win32;
  Size bytes_max;
  unsigned short usage;
  std::uint8_t reserved[54];
};

template <class Extent>
struct ArrayDescriptor {  // CUDA_ARRAY_DESCRIPTOR; with unsigned: its _v1.
  Extent width, height;
  unsigned format, channels;
};
template <class Extent>
struct Array3dDescriptor {  // CUDA_ARRAY3D_DESCRIPTOR; with unsigned: its _v1.
  Extent width, height, depth;
  unsigned format, channels, flags;
};
namespace array_flag {
constexpr unsigned layered = 1, sparse = 0x40, deferred_mapping = 0x80;
}

constexpr int graph_node_alloc = 10;          // CU_GRAPH_NODE_TYPE_MEM_ALLOC
constexpr int graph_memory_reserved_now = 2;  // CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT

struct IpcHandle {  // CUipcMemHandle
  char bytes[64];
};
struct ExternalMemoryDescriptor {  // CUDA_EXTERNAL_MEMORY_HANDLE_DESC
  int type;
  union {
    int fd;
    struct {
      void* handle;
      const void* name;
    } win32;
    const void* object;
  } handle;
  unsigned long long bytes;
  unsigned flags, reserved[16];
};
struct ExternalBufferDescriptor {  // CUDA_EXTERNAL_MEMORY_BUFFER_DESC
  unsigned long long offset, bytes;
  unsigned flags, reserved[16];
};

}  // namespace hbmscope::inject::driver
