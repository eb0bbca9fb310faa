// The types of the CUDA driver API, for what watches it and for what emulates it, which must build without a toolkit.
// cuda_check.cpp compares them with cuda.h if it is available. Names follow the API without its prefixes: Location is
// CUmemLocation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmscope::cuda {

using Result = int;                // CUresult
using Address = std::uint64_t;     // CUdeviceptr
using Address32 = std::uint32_t;   // CUdeviceptr_v1: before version 3.2 devices had no larger addresses.
using Size = std::size_t;          // Bytes.
using Device = int;                // CUdevice: an ordinal.
using MemHandle = std::uint64_t;   // CUmemGenericAllocationHandle
using Flags = unsigned long long;  // cuuint64_t
using Object = void*;              // CUcontext, CUstream, CUarray, ...: pointers to the driver's objects.

inline constexpr Result success = 0, error_invalid_value = 1, error_out_of_memory = 2, error_no_device = 100,
                        error_invalid_device = 101, error_invalid_context = 201, error_file_not_found = 301,
                        error_invalid_handle = 400, error_not_found = 500, error_not_ready = 600,
                        error_peer_access_already_enabled = 704, error_not_supported = 801,
                        error_capture_implicit = 906;

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
inline constexpr int managed_allocation = 2;
struct AccessDescriptor {  // CUmemAccessDesc
  Location location;
  int flags;
};
struct PoolProperties {  // CUmemPoolProps
  int type, handle_types;
  Location location;
  void* win32;
  Size bytes_max;
  unsigned short usage;
  std::uint8_t reserved[54];
};
struct IpcHandle {  // CUipcMemHandle, CUipcEventHandle, CUmemPoolPtrExportData
  char bytes[64];
};
struct MulticastProperties {  // CUmulticastObjectProp
  unsigned device_count;
  Size bytes;
  Flags handle_types, flags;
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
inline constexpr unsigned layered = 1, sparse = 0x40, deferred_mapping = 0x80;
}
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
struct ExternalArrayDescriptor {  // CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC
  unsigned long long offset;
  Array3dDescriptor<Size> array;
  unsigned levels, reserved[16];
};

struct LaunchConfig {  // CUlaunchConfig
  unsigned grid[3], block[3], shared_bytes;
  Object stream;
  void* attributes;
  unsigned attribute_count;
};
struct Copy2d {  // CUDA_MEMCPY2D
  Size source_x, source_y;
  int source_type;
  const void* source_host;
  Address source_device;
  Object source_array;
  Size source_pitch;
  Size target_x, target_y;
  int target_type;
  void* target_host;
  Address target_device;
  Object target_array;
  Size target_pitch;
  Size width, height;
};
inline constexpr int memory_type_host = 1, memory_type_device = 2;  // CUmemorytype

struct ConditionalParameters {  // CUDA_CONDITIONAL_NODE_PARAMS
  std::uint64_t handle;
  int type;
  unsigned count;
  Object* graphs_out;
  Object context;
};
struct AllocationNode {  // CUDA_MEM_ALLOC_NODE_PARAMS
  PoolProperties pool;
  const AccessDescriptor* access;
  Size access_count, bytes;
  Address address;
};
struct NodeParameters {  // CUgraphNodeParams
  int type;
  int reserved0[3];
  union {
    long long reserved1[29];
    ConditionalParameters conditional;
    AllocationNode allocation;
    Address freed;
    Object child_graph;
  };
  long long reserved2;
};
struct InstantiateParameters {  // CUDA_GRAPH_INSTANTIATE_PARAMS
  std::uint64_t flags;
  Object upload_stream, error_node;
  int result;
};
struct UpdateResult {  // CUgraphExecUpdateResultInfo
  int result;
  Object error_node, error_from_node;
};
namespace node_type {  // CUgraphNodeType
inline constexpr int kernel = 0, memcpy = 1, memset = 2, host = 3, graph = 4, empty = 5, wait_event = 6,
                     event_record = 7, mem_alloc = 10, mem_free = 11, batch_mem_op = 12, conditional = 13;
}
inline constexpr int graph_memory_reserved_now = 2;  // CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT

}  // namespace hbmscope::cuda
