// The types of the CUDA driver API that the emulated driver needs, declared here because the build must work without a
// toolkit. abi_check.cpp compares them with cuda.h where it exists. Names follow the API without its prefixes:
// Location is CUmemLocation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmscope::device::driver {

using Result = int;               // CUresult
using DeviceOrdinal = int;        // CUdevice
using Pointer = std::uint64_t;    // CUdeviceptr
using Size = std::size_t;         // Bytes.
using Handle = void*;             // CUcontext, CUstream, CUevent, CUmodule, CUfunction, CUgraph, CUmemoryPool, ...
using MemHandle = std::uint64_t;  // CUmemGenericAllocationHandle
using Flags = unsigned long long;

inline constexpr Result success = 0, error_invalid_value = 1, error_out_of_memory = 2, error_no_device = 100,
                        error_invalid_device = 101, error_invalid_context = 201, error_file_not_found = 301,
                        error_invalid_handle = 400, error_not_found = 500, error_not_ready = 600,
                        error_peer_access_already_enabled = 704, error_not_supported = 801,
                        error_capture_implicit = 906;

struct Location {  // CUmemLocation
  int type;        // 1: a device.
  int id;
};
inline constexpr int location_device = 1;

struct AllocationProperties {  // CUmemAllocationProp
  int type, handle_types;
  Location location;
  void* win32;
  std::uint8_t flags[8];
};
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
  int format;
  unsigned channels;
};
template <class Extent>
struct Array3dDescriptor {  // CUDA_ARRAY3D_DESCRIPTOR; with unsigned: its _v1.
  Extent width, height, depth;
  int format;
  unsigned channels, flags;
};
struct ExternalMemoryDescriptor {  // CUDA_EXTERNAL_MEMORY_HANDLE_DESC
  int type;
  union {
    int file;
    const void* pointers[2];
  } handle;
  unsigned long long bytes;
  unsigned flags, reserved[16];
};
struct ExternalBuffer {  // CUDA_EXTERNAL_MEMORY_BUFFER_DESC
  unsigned long long offset, bytes;
  unsigned flags, reserved[16];
};
struct ExternalArray {  // CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC
  unsigned long long offset;
  Array3dDescriptor<Size> array;
  unsigned levels, reserved[16];
};
struct LaunchConfig {  // CUlaunchConfig
  unsigned grid[3], block[3], shared_bytes;
  Handle stream;
  void* attributes;
  unsigned attribute_count;
};

struct Copy2d {  // CUDA_MEMCPY2D
  Size source_x, source_y;
  int source_type;
  const void* source_host;
  Pointer source_device;
  Handle source_array;
  Size source_pitch;
  Size target_x, target_y;
  int target_type;
  void* target_host;
  Pointer target_device;
  Handle target_array;
  Size target_pitch;
  Size width, height;
};
inline constexpr int memory_type_host = 1, memory_type_device = 2;  // CUmemorytype

struct ConditionalParameters {  // CUDA_CONDITIONAL_NODE_PARAMS
  std::uint64_t handle;
  int type;
  unsigned count;
  Handle* graphs_out;
  Handle context;
};
struct AllocationNode {  // CUDA_MEM_ALLOC_NODE_PARAMS
  PoolProperties pool;
  const AccessDescriptor* access;
  Size access_count, bytes;
  Pointer address;
};
struct NodeParameters {  // CUgraphNodeParams
  int type;
  int reserved0[3];
  union {
    long long reserved1[29];
    ConditionalParameters conditional;
    AllocationNode allocation;
    Pointer freed;
    Handle child_graph;
  };
  long long reserved2;
};
struct InstantiateParameters {  // CUDA_GRAPH_INSTANTIATE_PARAMS
  std::uint64_t flags;
  Handle upload_stream, error_node;
  int result;
};
struct UpdateResult {  // CUgraphExecUpdateResultInfo
  int result;
  Handle error_node, error_from_node;
};

namespace node_type {  // CUgraphNodeType
inline constexpr int kernel = 0, memcpy = 1, memset = 2, host = 3, graph = 4, empty = 5, wait_event = 6,
                     event_record = 7, mem_alloc = 10, mem_free = 11, batch_mem_op = 12, conditional = 13;
}

}  // namespace hbmscope::device::driver

// Every exported function of the driver, the runtime and the libraries.
#define HBMSCOPE_EXPORTED extern "C" __attribute__((visibility("default")))
