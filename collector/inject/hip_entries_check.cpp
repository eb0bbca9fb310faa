// Compiled if HIP's headers are there: hip.h and cuda.h of collector/abi must agree with them, and each parameter of an
// entry point of the table must have the size and the kind that it has there.
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DISABLE_CPP_FUNCTIONS__  // No overloads beside the C functions.
#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <type_traits>

#include "collector/abi/hip.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace hbmscope::inject::driver {

using namespace cuda;
using namespace hip;

static_assert(sizeof(hipError_t) == sizeof(Result) && hipErrorOutOfMemory == error_out_of_memory &&
              hipErrorNoDevice == error_no_device && hipSuccess == success);
static_assert(sizeof(hipDeviceptr_t) == sizeof(Address) &&
              sizeof(hipMemGenericAllocationHandle_t) == sizeof(MemHandle));
static_assert(sizeof(hipMemLocation) == sizeof(Location) && hipMemLocationTypeDevice == int(LocationType::device));
static_assert(sizeof(hipMemAllocationProp) <= sizeof(AllocationProperties) &&
              offsetof(hipMemAllocationProp, location) == offsetof(AllocationProperties, location));
static_assert(sizeof(hipMemPoolProps) == sizeof(PoolProperties) &&
              offsetof(hipMemPoolProps, location) == offsetof(PoolProperties, location));
static_assert(sizeof(HIP_ARRAY_DESCRIPTOR) == sizeof(ArrayDescriptor<Size>) &&
              offsetof(HIP_ARRAY_DESCRIPTOR, NumChannels) == offsetof(ArrayDescriptor<Size>, channels));
static_assert(sizeof(HIP_ARRAY3D_DESCRIPTOR) == sizeof(Array3dDescriptor<Size>) &&
              offsetof(HIP_ARRAY3D_DESCRIPTOR, Flags) == offsetof(Array3dDescriptor<Size>, flags));
static_assert(HIP_AD_FORMAT_FLOAT == 0x20 && HIP_AD_FORMAT_HALF == 0x10 && hipArrayLayered == array_flag::layered);
static_assert(sizeof(hipIpcMemHandle_t) == sizeof(IpcHandle));
static_assert(sizeof(hipExternalMemoryHandleDesc) == sizeof(ExternalMemoryDescriptor) &&
              offsetof(hipExternalMemoryHandleDesc, size) == offsetof(ExternalMemoryDescriptor, bytes));
static_assert(sizeof(hipExternalMemoryBufferDesc) == sizeof(ExternalBufferDescriptor) &&
              offsetof(hipExternalMemoryBufferDesc, size) == offsetof(ExternalBufferDescriptor, bytes));
static_assert(sizeof(dim3) == sizeof(GridSize) && sizeof(hipExtent) == sizeof(Extent) &&
              sizeof(hipPitchedPtr) == sizeof(PitchedPointer) && sizeof(hipChannelFormatDesc) == sizeof(ChannelFormat));
static_assert(offsetof(hipPitchedPtr, pitch) == offsetof(PitchedPointer, pitch));
static_assert(hipMemPoolAttrReservedMemCurrent == 5 && hipMemPoolAttrUsedMemCurrent == 7 &&
              hipMemPoolAttrReleaseThreshold == 4);
static_assert(hipGraphMemAttrReservedMemCurrent == graph_memory_reserved_now);
static_assert(sizeof(hipUUID) == 16);

static_assert(hipGraphNodeTypeMemAlloc == node_type::mem_alloc);

#if HIP_VERSION_MAJOR == 7 && HIP_VERSION_MINOR == 1  // The header from which the table was made.
template <class Ours, class Theirs>
constexpr bool is_passed_alike = sizeof(Ours) == sizeof(Theirs) && std::is_class_v<Ours> == std::is_class_v<Theirs>;
template <class... Ours, class... Theirs>
constexpr bool are_passed_alike(Result (*)(Ours...), hipError_t (*)(Theirs...)) {
  if constexpr (sizeof...(Ours) == sizeof...(Theirs))
    return (is_passed_alike<Ours, Theirs> && ...);
  else
    return false;
}

// Not in this header. Those that use the thread's own stream have the parameters of the others.
constexpr auto hipMemGetMemPool = nullptr, hipMemSetMemPool = nullptr, hipGetProcAddress_spt = nullptr;
// Overloaded in C++.
constexpr auto hipLaunchCooperativeKernel = nullptr;
constexpr auto hipLaunchCooperativeKernelMultiDevice = nullptr;
constexpr auto hipExtLaunchMultiKernelMultiDevice = nullptr;
constexpr auto hipMemcpyToSymbol = nullptr;
constexpr auto hipMemcpyToSymbolAsync = nullptr;
constexpr auto hipMemcpyFromSymbol = nullptr;
constexpr auto hipMemcpyFromSymbolAsync = nullptr;
constexpr hipError_t (*hipMallocAsync)(void**, size_t, hipStream_t) = ::hipMallocAsync;
constexpr hipError_t (*hipMallocFromPoolAsync)(void**, size_t, hipMemPool_t, hipStream_t) = ::hipMallocFromPoolAsync;
template <class Ours>
constexpr bool are_passed_alike(Ours, std::nullptr_t) {
  return true;
}
constexpr auto hipGraphLaunch_spt = ::hipGraphLaunch;
constexpr auto hipStreamBeginCapture_spt = ::hipStreamBeginCapture;
constexpr auto hipStreamSynchronize_spt = ::hipStreamSynchronize;
constexpr auto hipLaunchKernel_spt = ::hipLaunchKernel;
constexpr auto hipLaunchCooperativeKernel_spt = nullptr;
constexpr auto hipLaunchHostFunc_spt = ::hipLaunchHostFunc;
constexpr auto hipMemcpy_spt = ::hipMemcpy;
constexpr auto hipMemcpyAsync_spt = ::hipMemcpyAsync;
constexpr auto hipMemcpy2D_spt = ::hipMemcpy2D;
constexpr auto hipMemcpy2DAsync_spt = ::hipMemcpy2DAsync;
constexpr auto hipMemcpy3D_spt = ::hipMemcpy3D;
constexpr auto hipMemcpy3DAsync_spt = ::hipMemcpy3DAsync;
constexpr auto hipMemcpyToSymbol_spt = nullptr;
constexpr auto hipMemcpyToSymbolAsync_spt = nullptr;
constexpr auto hipMemcpyFromSymbol_spt = nullptr;
constexpr auto hipMemcpyFromSymbolAsync_spt = nullptr;
constexpr auto hipMemcpyFromArray_spt = ::hipMemcpyFromArray;
constexpr auto hipMemcpy2DToArray_spt = ::hipMemcpy2DToArray;
constexpr auto hipMemcpy2DToArrayAsync_spt = ::hipMemcpy2DToArrayAsync;
constexpr auto hipMemcpy2DFromArray_spt = ::hipMemcpy2DFromArray;
constexpr auto hipMemcpy2DFromArrayAsync_spt = ::hipMemcpy2DFromArrayAsync;
constexpr auto hipMemset_spt = ::hipMemset;
constexpr auto hipMemsetAsync_spt = ::hipMemsetAsync;
constexpr auto hipMemset2D_spt = ::hipMemset2D;
constexpr auto hipMemset2DAsync_spt = ::hipMemset2DAsync;
constexpr auto hipMemset3D_spt = ::hipMemset3D;
constexpr auto hipMemset3DAsync_spt = ::hipMemset3DAsync;

#define ALLOCATES(name, since, parameters, ...) \
  static_assert(are_passed_alike(static_cast<Result(*) parameters>(nullptr), name), #name);
#define FREES ALLOCATES
#define REFUSES ALLOCATES
#define RESOLVES ALLOCATES
#include "collector/inject/hip_entries.inc"
#endif

}  // namespace hbmscope::inject::driver
