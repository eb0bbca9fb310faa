// The driver's functions that the runtime calls, found as NVIDIA's runtime finds them: libcuda.so.1 is opened, and
// cuGetProcAddress hands out the rest. So a tool that watches the driver's entry points sees these calls too.
#pragma once

#include "allocator/emulated/cuda/driver/abi.h"

namespace hbmscope::device::runtime {

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
  X(cuDevicePrimaryCtxRetain, 7000, (Handle*, int))                                                         \
  X(cuDevicePrimaryCtxReset, 11000, (int))                                                                  \
  X(cuCtxGetCurrent, 4000, (Handle*))                                                                       \
  X(cuCtxSetCurrent, 4000, (Handle))                                                                        \
  X(cuCtxGetDevice, 2000, (int*))                                                                           \
  X(cuCtxSynchronize, 2000, ())                                                                             \
  X(cuCtxGetStreamPriorityRange, 5050, (int*, int*))                                                        \
  X(cuCtxGetLimit, 3010, (Size*, int))                                                                      \
  X(cuMemGetInfo, 3020, (Size*, Size*))                                                                     \
  X(cuMemAlloc, 3020, (Pointer*, Size))                                                                     \
  X(cuMemAllocPitch, 3020, (Pointer*, Size*, Size, Size, unsigned))                                         \
  X(cuMemAllocManaged, 6000, (Pointer*, Size, unsigned))                                                    \
  X(cuMemFree, 3020, (Pointer))                                                                             \
  X(cuMemHostAlloc, 2020, (void**, Size, unsigned))                                                         \
  X(cuMemFreeHost, 2000, (void*))                                                                           \
  X(cuMemHostRegister, 6050, (void*, Size, unsigned))                                                       \
  X(cuMemHostUnregister, 4000, (void*))                                                                     \
  X(cuMemHostGetDevicePointer, 3020, (Pointer*, void*, unsigned))                                           \
  X(cuPointerGetAttributes, 7000, (unsigned, const int*, void**, Pointer))                                  \
  X(cuIpcGetMemHandle, 4010, (IpcHandle*, Pointer))                                                         \
  X(cuIpcOpenMemHandle, 11000, (Pointer*, IpcHandle, unsigned))                                             \
  X(cuIpcGetEventHandle, 4010, (IpcHandle*, Handle))                                                        \
  X(cuIpcOpenEventHandle, 4010, (Handle*, IpcHandle))                                                       \
  X(cuIpcCloseMemHandle, 4010, (Pointer))                                                                   \
  X(cuMemAllocAsync, 11020, (Pointer*, Size, Handle))                                                       \
  X(cuMemAllocFromPoolAsync, 11020, (Pointer*, Size, Handle, Handle))                                       \
  X(cuMemFreeAsync, 11020, (Pointer, Handle))                                                               \
  X(cuMemPoolCreate, 11020, (Handle*, const PoolProperties*))                                               \
  X(cuMemPoolDestroy, 11020, (Handle))                                                                      \
  X(cuMemPoolTrimTo, 11020, (Handle, Size))                                                                 \
  X(cuMemPoolSetAttribute, 11020, (Handle, int, void*))                                                     \
  X(cuMemPoolGetAttribute, 11020, (Handle, int, void*))                                                     \
  X(cuDeviceGetDefaultMemPool, 11020, (Handle*, int))                                                       \
  X(cuDeviceGetMemPool, 11020, (Handle*, int))                                                              \
  X(cuDeviceSetMemPool, 11020, (int, Handle))                                                               \
  X(cuMemcpy, 4000, (Pointer, Pointer, Size))                                                               \
  X(cuMemcpyAsync, 4000, (Pointer, Pointer, Size, Handle))                                                  \
  X(cuMemcpy2D, 3020, (const Copy2d*))                                                                      \
  X(cuMemcpy2DAsync, 3020, (const Copy2d*, Handle))                                                         \
  X(cuMemsetD8, 3020, (Pointer, unsigned char, Size))                                                       \
  X(cuMemsetD8Async, 3020, (Pointer, unsigned char, Size, Handle))                                          \
  X(cuMemsetD2D8Async, 3020, (Pointer, Size, unsigned char, Size, Size, Handle))                            \
  X(cuStreamCreateWithPriority, 5050, (Handle*, unsigned, int))                                             \
  X(cuStreamDestroy, 4000, (Handle))                                                                        \
  X(cuStreamSynchronize, 2000, (Handle))                                                                    \
  X(cuStreamQuery, 2000, (Handle))                                                                          \
  X(cuStreamGetPriority, 5050, (Handle, int*))                                                              \
  X(cuStreamGetFlags, 5050, (Handle, unsigned*))                                                            \
  X(cuStreamGetId, 12000, (Handle, unsigned long long*))                                                    \
  X(cuStreamWaitEvent, 3020, (Handle, Handle, unsigned))                                                    \
  X(cuLaunchHostFunc, 10000, (Handle, HostFunction, void*))                                                 \
  X(cuStreamAddCallback, 5000, (Handle, void (*)(Handle, Result, void*), void*, unsigned))                  \
  X(cuStreamBeginCapture, 10010, (Handle, int))                                                             \
  X(cuStreamEndCapture, 10000, (Handle, Handle*))                                                           \
  X(cuStreamIsCapturing, 10000, (Handle, int*))                                                             \
  X(cuStreamGetCaptureInfo, 11030, (Handle, int*, std::uint64_t*, Handle*, const Handle**, Size*))          \
  X(cuThreadExchangeStreamCaptureMode, 10010, (int*))                                                       \
  X(cuEventCreate, 2000, (Handle*, unsigned))                                                               \
  X(cuEventDestroy, 4000, (Handle))                                                                         \
  X(cuEventRecord, 2000, (Handle, Handle))                                                                  \
  X(cuEventQuery, 2000, (Handle))                                                                           \
  X(cuEventSynchronize, 2000, (Handle))                                                                     \
  X(cuEventElapsedTime, 2000, (float*, Handle, Handle))                                                     \
  X(cuGraphCreate, 10000, (Handle*, unsigned))                                                              \
  X(cuGraphDestroy, 10000, (Handle))                                                                        \
  X(cuGraphClone, 10000, (Handle*, Handle))                                                                 \
  X(cuGraphAddEmptyNode, 10000, (Handle*, Handle, const Handle*, Size))                                     \
  X(cuGraphGetNodes, 10000, (Handle, Handle*, Size*))                                                       \
  X(cuGraphGetRootNodes, 10000, (Handle, Handle*, Size*))                                                   \
  X(cuGraphNodeGetType, 10000, (Handle, int*))                                                              \
  X(cuGraphNodeGetDependencies, 10000, (Handle, Handle*, Size*))                                            \
  X(cuGraphInstantiateWithFlags, 11040, (Handle*, Handle, Flags))                                           \
  X(cuGraphExecDestroy, 10000, (Handle))                                                                    \
  X(cuGraphLaunch, 10000, (Handle, Handle))                                                                 \
  X(cuLibraryLoadData, 12000, (Handle*, const void*, int*, void**, unsigned, int*, void**, unsigned))       \
  X(cuLibraryGetKernel, 12000, (Handle*, Handle, const char*))                                              \
  X(cuLaunchKernel, 4000,                                                                                   \
    (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**, void**)) \
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
// What cudaSetDevice chose for this thread.
int& device_of_thread();

}  // namespace hbmscope::device::runtime
