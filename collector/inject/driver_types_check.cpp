// Compiled if a toolkit's cuda.h is there: driver_types.h must agree with it.
#include <cuda.h>

#include <cstddef>
#include <type_traits>

#include "collector/inject/driver_types.h"

namespace hbmscope::inject::driver {

static_assert(sizeof(CUresult) == sizeof(Result) && CUDA_ERROR_OUT_OF_MEMORY == out_of_memory &&
              CUDA_ERROR_NO_DEVICE == no_device && CUDA_SUCCESS == success);
static_assert(sizeof(CUdeviceptr) == sizeof(Address) && sizeof(CUmemGenericAllocationHandle) == sizeof(MemHandle) &&
              sizeof(cuuint64_t) == sizeof(Flags));
static_assert(sizeof(CUmemLocation) == sizeof(Location) && CU_MEM_LOCATION_TYPE_DEVICE == int(LocationType::device));
static_assert(sizeof(CUmemAllocationProp) == sizeof(AllocationProperties) &&
              offsetof(CUmemAllocationProp, location) == offsetof(AllocationProperties, location));
static_assert(sizeof(CUmemPoolProps) == sizeof(PoolProperties) &&
              offsetof(CUmemPoolProps, location) == offsetof(PoolProperties, location));
static_assert(sizeof(CUDA_ARRAY_DESCRIPTOR) == sizeof(ArrayDescriptor<Size>) &&
              offsetof(CUDA_ARRAY_DESCRIPTOR, NumChannels) == offsetof(ArrayDescriptor<Size>, channels));
static_assert(sizeof(CUDA_ARRAY3D_DESCRIPTOR) == sizeof(Array3dDescriptor<Size>) &&
              offsetof(CUDA_ARRAY3D_DESCRIPTOR, Flags) == offsetof(Array3dDescriptor<Size>, flags));
static_assert(CUDA_ARRAY3D_LAYERED == array_flag::layered && CUDA_ARRAY3D_SPARSE == array_flag::sparse &&
              CUDA_ARRAY3D_DEFERRED_MAPPING == array_flag::deferred_mapping);
static_assert(sizeof(CUipcMemHandle) == sizeof(IpcHandle));
static_assert(sizeof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC) == sizeof(ExternalMemoryDescriptor) &&
              offsetof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size) == offsetof(ExternalMemoryDescriptor, bytes));
static_assert(sizeof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC) == sizeof(ExternalBufferDescriptor) &&
              offsetof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, size) == offsetof(ExternalBufferDescriptor, bytes));

static_assert(CU_GRAPH_NODE_TYPE_MEM_ALLOC == graph_node_alloc &&
              CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT == graph_memory_reserved_now);

}  // namespace hbmscope::inject::driver
