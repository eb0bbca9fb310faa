// The driver's functions that the runtime calls, found as NVIDIA's runtime finds them: libcuda.so.1 is opened, and
// cuGetProcAddress hands out the rest. So a tool that watches the driver's entry points sees these calls too.
#pragma once

#include "allocator/emulated/cuda/exported.h"
#include "collector/abi/cuda.h"

namespace hbmscope::device::runtime {

using namespace cuda;
using namespace driver;
using Error = int;  // cudaError_t; its values are the driver's.

using HostFunction = void (*)(void*);

// (name, the version whose variant is called, parameters)
#define HBMSCOPE_RUNTIME_CALLS(X)                                                                           \
  X(cuInit, 2000, (unsigned))                                                                               \
  X(cuDriverGetVersion, 2020, (int*))                                                                       \
  X(cuDeviceGetCount, 2000, (int*))                                                                         \
  X(cuDeviceGetName, 2000, (char*, int, int))                                                               \
  X(cuDeviceGetUuid, 11040, (void*, int))                                                                   \
  X(cuDeviceTotalMem, 3020, (Size*, int))                                                                   \
  X(cuDeviceGetAttribute, 2000, (int*, int, int))                                                           \
  X(cuDeviceGetPCIBusId, 4010, (char*, int, int))                                                           \
  X(cuDeviceGetByPCIBusId, 4010, (int*, const char*))                                                       \
  X(cuDeviceCanAccessPeer, 4000, (int*, int, int))                                                          \
  X(cuDeviceGetP2PAttribute, 8000, (int*, int, int, int))                                                   \
  X(cuDevicePrimaryCtxRetain, 7000, (Object*, int))                                                         \
  X(cuDevicePrimaryCtxReset, 11000, (int))                                                                  \
  X(cuCtxGetCurrent, 4000, (Object*))                                                                       \
  X(cuCtxSetCurrent, 4000, (Object))                                                                        \
  X(cuCtxGetDevice, 2000, (int*))                                                                           \
  X(cuCtxSynchronize, 2000, ())                                                                             \
  X(cuCtxGetStreamPriorityRange, 5050, (int*, int*))                                                        \
  X(cuCtxGetLimit, 3010, (Size*, int))                                                                      \
  X(cuMemGetInfo, 3020, (Size*, Size*))                                                                     \
  X(cuMemAlloc, 3020, (Address*, Size))                                                                     \
  X(cuMemAllocPitch, 3020, (Address*, Size*, Size, Size, unsigned))                                         \
  X(cuMemAllocManaged, 6000, (Address*, Size, unsigned))                                                    \
  X(cuMemFree, 3020, (Address))                                                                             \
  X(cuMemHostAlloc, 2020, (void**, Size, unsigned))                                                         \
  X(cuMemFreeHost, 2000, (void*))                                                                           \
  X(cuMemHostRegister, 6050, (void*, Size, unsigned))                                                       \
  X(cuMemHostUnregister, 4000, (void*))                                                                     \
  X(cuMemHostGetDevicePointer, 3020, (Address*, void*, unsigned))                                           \
  X(cuPointerGetAttributes, 7000, (unsigned, const int*, void**, Address))                                  \
  X(cuIpcGetMemHandle, 4010, (IpcHandle*, Address))                                                         \
  X(cuIpcOpenMemHandle, 11000, (Address*, IpcHandle, unsigned))                                             \
  X(cuIpcGetEventHandle, 4010, (IpcHandle*, Object))                                                        \
  X(cuIpcOpenEventHandle, 4010, (Object*, IpcHandle))                                                       \
  X(cuIpcCloseMemHandle, 4010, (Address))                                                                   \
  X(cuMemAllocAsync, 11020, (Address*, Size, Object))                                                       \
  X(cuMemAllocFromPoolAsync, 11020, (Address*, Size, Object, Object))                                       \
  X(cuMemFreeAsync, 11020, (Address, Object))                                                               \
  X(cuMemPoolCreate, 11020, (Object*, const PoolProperties*))                                               \
  X(cuMemPoolDestroy, 11020, (Object))                                                                      \
  X(cuMemPoolTrimTo, 11020, (Object, Size))                                                                 \
  X(cuMemPoolSetAttribute, 11020, (Object, int, void*))                                                     \
  X(cuMemPoolGetAttribute, 11020, (Object, int, void*))                                                     \
  X(cuDeviceGetDefaultMemPool, 11020, (Object*, int))                                                       \
  X(cuDeviceGetMemPool, 11020, (Object*, int))                                                              \
  X(cuDeviceSetMemPool, 11020, (int, Object))                                                               \
  X(cuMemcpy, 4000, (Address, Address, Size))                                                               \
  X(cuMemcpyAsync, 4000, (Address, Address, Size, Object))                                                  \
  X(cuMemcpy2D, 3020, (const Copy2d*))                                                                      \
  X(cuMemcpy2DAsync, 3020, (const Copy2d*, Object))                                                         \
  X(cuMemsetD8, 3020, (Address, unsigned char, Size))                                                       \
  X(cuMemsetD8Async, 3020, (Address, unsigned char, Size, Object))                                          \
  X(cuMemsetD2D8Async, 3020, (Address, Size, unsigned char, Size, Size, Object))                            \
  X(cuStreamCreateWithPriority, 5050, (Object*, unsigned, int))                                             \
  X(cuStreamDestroy, 4000, (Object))                                                                        \
  X(cuStreamSynchronize, 2000, (Object))                                                                    \
  X(cuStreamQuery, 2000, (Object))                                                                          \
  X(cuStreamGetPriority, 5050, (Object, int*))                                                              \
  X(cuStreamGetFlags, 5050, (Object, unsigned*))                                                            \
  X(cuStreamGetId, 12000, (Object, unsigned long long*))                                                    \
  X(cuStreamWaitEvent, 3020, (Object, Object, unsigned))                                                    \
  X(cuLaunchHostFunc, 10000, (Object, HostFunction, void*))                                                 \
  X(cuStreamAddCallback, 5000, (Object, void (*)(Object, Result, void*), void*, unsigned))                  \
  X(cuStreamBeginCapture, 10010, (Object, int))                                                             \
  X(cuStreamEndCapture, 10000, (Object, Object*))                                                           \
  X(cuStreamIsCapturing, 10000, (Object, int*))                                                             \
  X(cuStreamGetCaptureInfo, 11030, (Object, int*, std::uint64_t*, Object*, const Object**, Size*))          \
  X(cuThreadExchangeStreamCaptureMode, 10010, (int*))                                                       \
  X(cuEventCreate, 2000, (Object*, unsigned))                                                               \
  X(cuEventDestroy, 4000, (Object))                                                                         \
  X(cuEventRecord, 2000, (Object, Object))                                                                  \
  X(cuEventQuery, 2000, (Object))                                                                           \
  X(cuEventSynchronize, 2000, (Object))                                                                     \
  X(cuEventElapsedTime, 2000, (float*, Object, Object))                                                     \
  X(cuGraphCreate, 10000, (Object*, unsigned))                                                              \
  X(cuGraphDestroy, 10000, (Object))                                                                        \
  X(cuGraphClone, 10000, (Object*, Object))                                                                 \
  X(cuGraphAddEmptyNode, 10000, (Object*, Object, const Object*, Size))                                     \
  X(cuGraphGetNodes, 10000, (Object, Object*, Size*))                                                       \
  X(cuGraphGetRootNodes, 10000, (Object, Object*, Size*))                                                   \
  X(cuGraphNodeGetType, 10000, (Object, int*))                                                              \
  X(cuGraphNodeGetDependencies, 10000, (Object, Object*, Size*))                                            \
  X(cuGraphInstantiateWithFlags, 11040, (Object*, Object, Flags))                                           \
  X(cuGraphExecDestroy, 10000, (Object))                                                                    \
  X(cuGraphLaunch, 10000, (Object, Object))                                                                 \
  X(cuLibraryLoadData, 12000, (Object*, const void*, int*, void**, unsigned, int*, void**, unsigned))       \
  X(cuLibraryGetKernel, 12000, (Object*, Object, const char*))                                              \
  X(cuLaunchKernel, 4000,                                                                                   \
    (Object, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Object, void**, void**)) \
  X(cuGetErrorName, 6000, (Result, const char**))                                                           \
  X(cuGetErrorString, 6000, (Result, const char**))

struct DriverCalls {
#define X(name, version, parameters) Result(*name) parameters;
  HBMSCOPE_RUNTIME_CALLS(X)
#undef X
  Result (*cuGetProcAddress)(const char*, void**, int, Flags, int*);
};

// Looked up at the first call. A function that the driver lacks returns 801 (not supported).
const DriverCalls& driver_calls();
// The same, with the primary context of this thread's device current: most of the runtime's functions make it.
const DriverCalls& driver_with_context();

// Keeps the error for cudaGetLastError, and returns it.
Error keep(Error error);
inline constexpr Error error_invalid_configuration = 9;  // Of the runtime only: dimensions beyond the device's limits.
// What cudaSetDevice chose for this thread.
int& device_of_thread();

}  // namespace hbmscope::device::runtime
