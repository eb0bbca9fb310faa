// Streams, events, capture and graphs.
#include "allocator/emulated/cuda/runtime/driver_calls.h"

using namespace hbmscope::device::runtime;

HBMSCOPE_EXPORTED Error cudaStreamCreateWithPriority(Handle* out, unsigned flags, int priority) {
  return keep(driver_with_context().cuStreamCreateWithPriority(out, flags, priority));
}
HBMSCOPE_EXPORTED Error cudaStreamCreateWithFlags(Handle* out, unsigned flags) {
  return cudaStreamCreateWithPriority(out, flags, 0);
}
HBMSCOPE_EXPORTED Error cudaStreamCreate(Handle* out) {
  return cudaStreamCreateWithPriority(out, 0, 0);
}
HBMSCOPE_EXPORTED Error cudaStreamDestroy(Handle stream) {
  return keep(driver_with_context().cuStreamDestroy(stream));
}
HBMSCOPE_EXPORTED Error cudaStreamSynchronize(Handle stream) {
  return keep(driver_with_context().cuStreamSynchronize(stream));
}
HBMSCOPE_EXPORTED Error cudaStreamQuery(Handle stream) {
  return keep(driver_with_context().cuStreamQuery(stream));
}
HBMSCOPE_EXPORTED Error cudaStreamGetPriority(Handle stream, int* priority) {
  return keep(driver_with_context().cuStreamGetPriority(stream, priority));
}
HBMSCOPE_EXPORTED Error cudaStreamGetFlags(Handle stream, unsigned* flags) {
  return keep(driver_with_context().cuStreamGetFlags(stream, flags));
}
HBMSCOPE_EXPORTED Error cudaStreamGetId(Handle stream, unsigned long long* id) {
  return keep(driver_with_context().cuStreamGetId(stream, id));
}
HBMSCOPE_EXPORTED Error cudaStreamWaitEvent(Handle stream, Handle event, unsigned flags) {
  return keep(driver_with_context().cuStreamWaitEvent(stream, event, flags));
}
HBMSCOPE_EXPORTED Error cudaLaunchHostFunc(Handle stream, HostFunction function, void* data) {
  return keep(driver_with_context().cuLaunchHostFunc(stream, function, data));
}
HBMSCOPE_EXPORTED Error cudaStreamAddCallback(Handle stream, void (*function)(Handle, Error, void*), void* data,
                                              unsigned flags) {
  return keep(driver_with_context().cuStreamAddCallback(stream, function, data, flags));
}

HBMSCOPE_EXPORTED Error cudaEventCreateWithFlags(Handle* out, unsigned flags) {
  return keep(driver_with_context().cuEventCreate(out, flags));
}
HBMSCOPE_EXPORTED Error cudaEventCreate(Handle* out) {
  return cudaEventCreateWithFlags(out, 0);
}
HBMSCOPE_EXPORTED Error cudaEventDestroy(Handle event) {
  return keep(driver_with_context().cuEventDestroy(event));
}
HBMSCOPE_EXPORTED Error cudaEventRecord(Handle event, Handle stream) {
  return keep(driver_with_context().cuEventRecord(event, stream));
}
HBMSCOPE_EXPORTED Error cudaEventRecordWithFlags(Handle event, Handle stream, unsigned) {
  return cudaEventRecord(event, stream);
}
HBMSCOPE_EXPORTED Error cudaEventQuery(Handle event) {
  return keep(driver_with_context().cuEventQuery(event));
}
HBMSCOPE_EXPORTED Error cudaEventSynchronize(Handle event) {
  return keep(driver_with_context().cuEventSynchronize(event));
}
HBMSCOPE_EXPORTED Error cudaEventElapsedTime(float* milliseconds, Handle begin, Handle end) {
  return keep(driver_with_context().cuEventElapsedTime(milliseconds, begin, end));
}

HBMSCOPE_EXPORTED Error cudaIpcGetEventHandle(IpcHandle* out, Handle event) {
  return keep(driver_with_context().cuIpcGetEventHandle(out, event));
}
HBMSCOPE_EXPORTED Error cudaIpcOpenEventHandle(Handle* out, IpcHandle handle) {
  return keep(driver_with_context().cuIpcOpenEventHandle(out, handle));
}

HBMSCOPE_EXPORTED Error cudaStreamBeginCapture(Handle stream, int mode) {
  return keep(driver_with_context().cuStreamBeginCapture(stream, mode));
}
HBMSCOPE_EXPORTED Error cudaStreamEndCapture(Handle stream, Handle* graph) {
  return keep(driver_with_context().cuStreamEndCapture(stream, graph));
}
HBMSCOPE_EXPORTED Error cudaStreamIsCapturing(Handle stream, int* status) {
  return keep(driver_with_context().cuStreamIsCapturing(stream, status));
}
HBMSCOPE_EXPORTED Error cudaThreadExchangeStreamCaptureMode(int* mode) {
  return keep(driver_with_context().cuThreadExchangeStreamCaptureMode(mode));
}
#if HBMSCOPE_CUDA_MAJOR == 12
HBMSCOPE_EXPORTED Error cudaStreamGetCaptureInfo_v2(Handle stream, int* status, std::uint64_t* id, Handle* graph,
                                                    const Handle** dependencies, Size* count) {
  return keep(driver_with_context().cuStreamGetCaptureInfo(stream, status, id, graph, dependencies, count));
}
HBMSCOPE_EXPORTED Error cudaStreamGetCaptureInfo_v3(Handle stream, int* status, std::uint64_t* id, Handle* graph,
                                                    const Handle** dependencies, const void** edges, Size* count) {
  if (edges != nullptr) *edges = nullptr;
  return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, count);
}
HBMSCOPE_EXPORTED Error cudaStreamGetCaptureInfo(Handle stream, int* status, std::uint64_t* id) {
  return cudaStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr, nullptr);
}
HBMSCOPE_EXPORTED Error cudaGraphNodeGetDependencies(Handle node, Handle* out, Size* count) {
  return keep(driver_with_context().cuGraphNodeGetDependencies(node, out, count));
}
HBMSCOPE_EXPORTED Error cudaGraphInstantiate(Handle* out, Handle graph, Flags flags) {
  return keep(driver_with_context().cuGraphInstantiateWithFlags(out, graph, flags));
}
#else
HBMSCOPE_EXPORTED Error cudaStreamGetCaptureInfo(Handle stream, int* status, std::uint64_t* id, Handle* graph,
                                                 const Handle** dependencies, const void** edges, Size* count) {
  if (edges != nullptr) *edges = nullptr;
  return keep(driver_with_context().cuStreamGetCaptureInfo(stream, status, id, graph, dependencies, count));
}
HBMSCOPE_EXPORTED Error cudaGraphNodeGetDependencies(Handle node, Handle* out, void*, Size* count) {
  return keep(driver_with_context().cuGraphNodeGetDependencies(node, out, count));
}
HBMSCOPE_EXPORTED Error cudaGraphInstantiate(Handle* out, Handle graph, Flags flags) {
  return keep(driver_with_context().cuGraphInstantiateWithFlags(out, graph, flags));
}
#endif

HBMSCOPE_EXPORTED Error cudaGraphCreate(Handle* out, unsigned flags) {
  return keep(driver_with_context().cuGraphCreate(out, flags));
}
HBMSCOPE_EXPORTED Error cudaGraphDestroy(Handle graph) {
  return keep(driver_with_context().cuGraphDestroy(graph));
}
HBMSCOPE_EXPORTED Error cudaGraphClone(Handle* out, Handle graph) {
  return keep(driver_with_context().cuGraphClone(out, graph));
}
HBMSCOPE_EXPORTED Error cudaGraphAddEmptyNode(Handle* out, Handle graph, const Handle* dependencies, Size count) {
  return keep(driver_with_context().cuGraphAddEmptyNode(out, graph, dependencies, count));
}
HBMSCOPE_EXPORTED Error cudaGraphGetNodes(Handle graph, Handle* out, Size* count) {
  return keep(driver_with_context().cuGraphGetNodes(graph, out, count));
}
HBMSCOPE_EXPORTED Error cudaGraphGetRootNodes(Handle graph, Handle* out, Size* count) {
  return keep(driver_with_context().cuGraphGetRootNodes(graph, out, count));
}
HBMSCOPE_EXPORTED Error cudaGraphNodeGetType(Handle node, int* type) {
  return keep(driver_with_context().cuGraphNodeGetType(node, type));
}
HBMSCOPE_EXPORTED Error cudaGraphInstantiateWithFlags(Handle* out, Handle graph, Flags flags) {
  return keep(driver_with_context().cuGraphInstantiateWithFlags(out, graph, flags));
}
HBMSCOPE_EXPORTED Error cudaGraphExecDestroy(Handle executable) {
  return keep(driver_with_context().cuGraphExecDestroy(executable));
}
HBMSCOPE_EXPORTED Error cudaGraphLaunch(Handle executable, Handle stream) {
  return keep(driver_with_context().cuGraphLaunch(executable, stream));
}
