// Compiled where a toolkit's cuda.h (version 12.8 or later) exists: cuda.h of this folder must agree with it.
#include <cuda.h>

#include <cstddef>

#include "collector/abi/cuda.h"

namespace hbmscope::cuda {

#define SAME_SIZE(theirs, ours) static_assert(sizeof(theirs) == sizeof(ours))
#define SAME_PLACE(theirs, their_member, ours, our_member) \
  static_assert(offsetof(theirs, their_member) == offsetof(ours, our_member))

SAME_SIZE(CUresult, Result);
SAME_SIZE(CUdeviceptr, Address);
SAME_SIZE(CUmemGenericAllocationHandle, MemHandle);
SAME_SIZE(cuuint64_t, Flags);
static_assert(CUDA_SUCCESS == success && CUDA_ERROR_OUT_OF_MEMORY == error_out_of_memory &&
              CUDA_ERROR_NO_DEVICE == error_no_device);
static_assert(CUDA_ERROR_INVALID_DEVICE == error_invalid_device && CUDA_ERROR_INVALID_CONTEXT == error_invalid_context);
static_assert(CUDA_ERROR_INVALID_HANDLE == error_invalid_handle && CUDA_ERROR_NOT_FOUND == error_not_found);
static_assert(CUDA_ERROR_NOT_READY == error_not_ready && CUDA_ERROR_NOT_SUPPORTED == error_not_supported);
static_assert(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED == error_peer_access_already_enabled);
static_assert(CUDA_ERROR_FILE_NOT_FOUND == error_file_not_found);
static_assert(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT == error_capture_implicit);
SAME_SIZE(CUmemLocation, Location);
static_assert(CU_MEM_LOCATION_TYPE_DEVICE == int(LocationType::device));
SAME_SIZE(CUmemAllocationProp, AllocationProperties);
SAME_PLACE(CUmemAllocationProp, location, AllocationProperties, location);
SAME_SIZE(CUmemAccessDesc, AccessDescriptor);
SAME_SIZE(CUmemPoolProps, PoolProperties);
SAME_PLACE(CUmemPoolProps, location, PoolProperties, location);
SAME_PLACE(CUmemPoolProps, maxSize, PoolProperties, bytes_max);
SAME_SIZE(CUipcMemHandle, IpcHandle);
SAME_SIZE(CUmemPoolPtrExportData, IpcHandle);
SAME_SIZE(CUmulticastObjectProp, MulticastProperties);
SAME_PLACE(CUmulticastObjectProp, size, MulticastProperties, bytes);
SAME_SIZE(CUDA_ARRAY_DESCRIPTOR, ArrayDescriptor<Size>);
SAME_PLACE(CUDA_ARRAY_DESCRIPTOR, NumChannels, ArrayDescriptor<Size>, channels);
SAME_SIZE(CUDA_ARRAY3D_DESCRIPTOR, Array3dDescriptor<Size>);
SAME_PLACE(CUDA_ARRAY3D_DESCRIPTOR, NumChannels, Array3dDescriptor<Size>, channels);
SAME_PLACE(CUDA_ARRAY3D_DESCRIPTOR, Flags, Array3dDescriptor<Size>, flags);
static_assert(CUDA_ARRAY3D_LAYERED == array_flag::layered && CUDA_ARRAY3D_SPARSE == array_flag::sparse &&
              CUDA_ARRAY3D_DEFERRED_MAPPING == array_flag::deferred_mapping);
SAME_SIZE(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, ExternalMemoryDescriptor);
SAME_PLACE(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size, ExternalMemoryDescriptor, bytes);
SAME_SIZE(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, ExternalBufferDescriptor);
SAME_PLACE(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, size, ExternalBufferDescriptor, bytes);
SAME_SIZE(CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC, ExternalArrayDescriptor);
SAME_PLACE(CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC, numLevels, ExternalArrayDescriptor, levels);
SAME_SIZE(CUlaunchConfig, LaunchConfig);
SAME_PLACE(CUlaunchConfig, hStream, LaunchConfig, stream);
SAME_SIZE(CUDA_MEMCPY2D, Copy2d);
SAME_PLACE(CUDA_MEMCPY2D, dstPitch, Copy2d, target_pitch);
SAME_PLACE(CUDA_MEMCPY2D, srcDevice, Copy2d, source_device);
static_assert(CU_MEMORYTYPE_HOST == memory_type_host && CU_MEMORYTYPE_DEVICE == memory_type_device);
SAME_PLACE(CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out, ConditionalParameters, graphs_out);
SAME_PLACE(CUDA_CONDITIONAL_NODE_PARAMS, size, ConditionalParameters, count);
SAME_SIZE(CUDA_MEM_ALLOC_NODE_PARAMS, AllocationNode);
SAME_PLACE(CUDA_MEM_ALLOC_NODE_PARAMS, bytesize, AllocationNode, bytes);
SAME_PLACE(CUDA_MEM_ALLOC_NODE_PARAMS, dptr, AllocationNode, address);
SAME_SIZE(CUgraphNodeParams, NodeParameters);
SAME_PLACE(CUgraphNodeParams, alloc, NodeParameters, allocation);
SAME_PLACE(CUgraphNodeParams, conditional, NodeParameters, conditional);
SAME_SIZE(CUDA_GRAPH_INSTANTIATE_PARAMS, InstantiateParameters);
SAME_SIZE(CUgraphExecUpdateResultInfo, UpdateResult);
static_assert(CU_GRAPH_NODE_TYPE_CONDITIONAL == node_type::conditional && CU_GRAPH_NODE_TYPE_GRAPH == node_type::graph);
static_assert(CU_GRAPH_NODE_TYPE_MEM_ALLOC == node_type::mem_alloc);
static_assert(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT == graph_memory_reserved_now);

}  // namespace hbmscope::cuda
