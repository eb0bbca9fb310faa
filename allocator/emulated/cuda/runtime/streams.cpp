// Streams, events, capture and graphs.
#include "allocator/emulated/cuda/runtime/driver_calls.h"

using namespace hbmscope::device::runtime;

HBMSCOPE_EXPORTED Error cudaStreamCreateWithPriority(Object* out, unsigned flags, int priority) {
  return keep(driver_with_context().cuStreamCreateWithPriority(out, flags, priority));
}
HBMSCOPE_EXPORTED Error cudaStreamCreateWithFlags(Object* out, unsigned flags) {
  return cudaStreamCreateWithPriority(out, flags, 0);
}
HBMSCOPE_EXPORTED Error cudaStreamCreate(Object* out) {
  return cudaStreamCreateWithPriority(out, 0, 0);
}
HBMSCOPE_EXPORTED Error cudaStreamDestroy(Object stream) {
  return keep(driver_with_context().cuStreamDestroy(stream));
}
HBMSCOPE_EXPORTED Error cudaStreamSynchronize(Object stream) {
  return keep(driver_with_context().cuStreamSynchronize(stream));
}
HBMSCOPE_EXPORTED Error cudaStreamQuery(Object stream) {
  return keep(driver_with_context().cuStreamQuery(stream));
}
HBMSCOPE_EXPORTED Error cudaStreamGetPriority(Object stream, int* priority) {
  return keep(driver_with_context().cuStreamGetPriority(stream, priority));
}
HBMSCOPE_EXPORTED Error cudaStreamGetFlags(Object stream, unsigned* flags) {
  return keep(driver_with_context().cuStreamGetFlags(stream, flags));
}
HBMSCOPE_EXPORTED Error cudaStreamGetId(Object stream, unsigned long long* id) {
  return keep(driver_with_context().cuStreamGetId(stream, id));
}
HBMSCOPE_EXPORTED Error cudaStreamWaitEvent(Object stream, Object event, unsigned flags) {
  return keep(driver_with_context().cuStreamWaitEvent(stream, event, flags));
}
HBMSCOPE_EXPORTED Error cudaLaunchHostFunc(Object stream, HostFunction function, void* data) {
  return keep(driver_with_context().cuLaunchHostFunc(stream, function, data));
}
HBMSCOPE_EXPORTED Error cudaStreamAddCallback(Object stream, void (*function)(Object, Error, void*), void* data,
                                              unsigned flags) {
  return keep(driver_with_context().cuStreamAddCallback(stream, function, data, flags));
}

HBMSCOPE_EXPORTED Error cudaEventCreateWithFlags(Object* out, unsigned flags) {
  return keep(driver_with_context().cuEventCreate(out, flags));
}
HBMSCOPE_EXPORTED Error cudaEventCreate(Object* out) {
  return cudaEventCreateWithFlags(out, 0);
}
HBMSCOPE_EXPORTED Error cudaEventDestroy(Object event) {
  return keep(driver_with_context().cuEventDestroy(event));
}
HBMSCOPE_EXPORTED Error cudaEventRecord(Object event, Object stream) {
  return keep(driver_with_context().cuEventRecord(event, stream));
}
HBMSCOPE_EXPORTED Error cudaEventRecordWithFlags(Object event, Object stream, unsigned) {
  return cudaEventRecord(event, stream);
}
HBMSCOPE_EXPORTED Error cudaEventQuery(Object event) {
  return keep(driver_with_context().cuEventQuery(event));
}
HBMSCOPE_EXPORTED Error cudaEventSynchronize(Object event) {
  return keep(driver_with_context().cuEventSynchronize(event));
}
HBMSCOPE_EXPORTED Error cudaEventElapsedTime(float* milliseconds, Object begin, Object end) {
  return keep(driver_with_context().cuEventElapsedTime(milliseconds, begin, end));
}

HBMSCOPE_EXPORTED Error cudaIpcGetEventHandle(IpcHandle* out, Object event) {
  return keep(driver_with_context().cuIpcGetEventHandle(out, event));
}
HBMSCOPE_EXPORTED Error cudaIpcOpenEventHandle(Object* out, IpcHandle handle) {
  return keep(driver_with_context().cuIpcOpenEventHandle(out, handle));
}

HBMSCOPE_EXPORTED Error cudaStreamBeginCapture(Object stream, int mode) {
  return keep(driver_with_context().cuStreamBeginCapture(stream, mode));
}
HBMSCOPE_EXPORTED Error cudaStreamEndCapture(Object stream, Object* graph) {
  return keep(driver_with_context().cuStreamEndCapture(stream, graph));
}
HBMSCOPE_EXPORTED Error cudaStreamIsCapturing(Object stream, int* status) {
  return keep(driver_with_context().cuStreamIsCapturing(stream, status));
}
HBMSCOPE_EXPORTED Error cudaThreadExchangeStreamCaptureMode(int* mode) {
  return keep(driver_with_context().cuThreadExchangeStreamCaptureMode(mode));
}
#if HBMSCOPE_CUDA_MAJOR == 12
HBMSCOPE_EXPORTED Error cudaStreamGetCaptureInfo_v2(Object stream, int* status, std::uint64_t* id, Object* graph,
                                                    const Object** dependencies, Size* count) {
  return keep(driver_with_context().cuStreamGetCaptureInfo(stream, status, id, graph, dependencies, count));
}
HBMSCOPE_EXPORTED Error cudaStreamGetCaptureInfo_v3(Object stream, int* status, std::uint64_t* id, Object* graph,
                                                    const Object** dependencies, const void** edges, Size* count) {
  if (edges != nullptr) *edges = nullptr;
  return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, count);
}
HBMSCOPE_EXPORTED Error cudaStreamGetCaptureInfo(Object stream, int* status, std::uint64_t* id) {
  return cudaStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr, nullptr);
}
HBMSCOPE_EXPORTED Error cudaGraphNodeGetDependencies(Object node, Object* out, Size* count) {
  return keep(driver_with_context().cuGraphNodeGetDependencies(node, out, count));
}
HBMSCOPE_EXPORTED Error cudaGraphInstantiate(Object* out, Object graph, Flags flags) {
  return keep(driver_with_context().cuGraphInstantiateWithFlags(out, graph, flags));
}
#else
HBMSCOPE_EXPORTED Error cudaStreamGetCaptureInfo(Object stream, int* status, std::uint64_t* id, Object* graph,
                                                 const Object** dependencies, const void** edges, Size* count) {
  if (edges != nullptr) *edges = nullptr;
  return keep(driver_with_context().cuStreamGetCaptureInfo(stream, status, id, graph, dependencies, count));
}
HBMSCOPE_EXPORTED Error cudaGraphNodeGetDependencies(Object node, Object* out, void*, Size* count) {
  return keep(driver_with_context().cuGraphNodeGetDependencies(node, out, count));
}
HBMSCOPE_EXPORTED Error cudaGraphInstantiate(Object* out, Object graph, Flags flags) {
  return keep(driver_with_context().cuGraphInstantiateWithFlags(out, graph, flags));
}
#endif

HBMSCOPE_EXPORTED Error cudaGraphCreate(Object* out, unsigned flags) {
  return keep(driver_with_context().cuGraphCreate(out, flags));
}
HBMSCOPE_EXPORTED Error cudaGraphDestroy(Object graph) {
  return keep(driver_with_context().cuGraphDestroy(graph));
}
HBMSCOPE_EXPORTED Error cudaGraphClone(Object* out, Object graph) {
  return keep(driver_with_context().cuGraphClone(out, graph));
}
HBMSCOPE_EXPORTED Error cudaGraphAddEmptyNode(Object* out, Object graph, const Object* dependencies, Size count) {
  return keep(driver_with_context().cuGraphAddEmptyNode(out, graph, dependencies, count));
}
HBMSCOPE_EXPORTED Error cudaGraphGetNodes(Object graph, Object* out, Size* count) {
  return keep(driver_with_context().cuGraphGetNodes(graph, out, count));
}
HBMSCOPE_EXPORTED Error cudaGraphGetRootNodes(Object graph, Object* out, Size* count) {
  return keep(driver_with_context().cuGraphGetRootNodes(graph, out, count));
}
HBMSCOPE_EXPORTED Error cudaGraphNodeGetType(Object node, int* type) {
  return keep(driver_with_context().cuGraphNodeGetType(node, type));
}
HBMSCOPE_EXPORTED Error cudaGraphInstantiateWithFlags(Object* out, Object graph, Flags flags) {
  return keep(driver_with_context().cuGraphInstantiateWithFlags(out, graph, flags));
}
HBMSCOPE_EXPORTED Error cudaGraphExecDestroy(Object executable) {
  return keep(driver_with_context().cuGraphExecDestroy(executable));
}
HBMSCOPE_EXPORTED Error cudaGraphLaunch(Object executable, Object stream) {
  return keep(driver_with_context().cuGraphLaunch(executable, stream));
}
