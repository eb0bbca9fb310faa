// The pretend driver's graphs: what their nodes take is held from the first upload or launch of any of them on, as one
// pool of the first device, until it is trimmed.
#include <cstring>
#include <mutex>

#include "tests/collector/fake_cuda/fake_driver.h"

namespace fake_driver {
namespace {

std::mutex mutex;
Size in_nodes = 0, held = 0;

// CUDA_MEM_ALLOC_NODE_PARAMS: 88 bytes that say where, an array and its length, then how much.
void add_node(const void* node) {
  Size bytes = 0;
  std::memcpy(&bytes, static_cast<const char*>(node) + 104, sizeof(bytes));
  const std::lock_guard lock(mutex);
  in_nodes += bytes;
}

void hold() {
  const std::lock_guard lock(mutex);
  held = in_nodes > held ? in_nodes : held;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) Result cuDeviceGetGraphMemAttribute(Device, int attribute,
                                                                                      std::uint64_t* value) {
  end_job_if_in_hook("cuDeviceGetGraphMemAttribute");
  if (attribute != graph_memory_reserved_now) return invalid_value;
  const std::lock_guard lock(mutex);
  *value = held;
  return success;
}

namespace behind {

Result cuGraphAddMemAllocNode(Object*, Object, const Object*, Size, void* node) {
  const Result failure = failure_of(__func__);
  if (failure == success) add_node(node);
  return failure;
}
// CUgraphNodeParams: its type, 12 bytes of nothing, then the parameters of that type.
Result cuGraphAddNode(Object*, Object, const Object*, Size, void* node) {
  const Result failure = failure_of(__func__);
  int type = 0;
  if (failure == success) std::memcpy(&type, node, sizeof(type));
  if (type == graph_node_alloc) add_node(static_cast<const char*>(node) + 16);
  return failure;
}
Result cuGraphAddNode_v2(Object* out, Object graph, const Object* before, const void*, Size count, void* node) {
  const Result failure = failure_of(__func__);
  return failure == success ? fake_driver::cuGraphAddNode(out, graph, before, count, node) : failure;
}

#define HOLDS(name)                              \
  Result name(Object, Object) {                  \
    const Result failure = failure_of(__func__); \
    if (failure == success) hold();              \
    return failure;                              \
  }
HOLDS(cuGraphUpload)
HOLDS(cuGraphUpload_ptsz)
HOLDS(cuGraphLaunch)
HOLDS(cuGraphLaunch_ptsz)

Result cuGraphExecDestroy(Object) {
  return failure_of(__func__);
}
Result cuDeviceGraphMemTrim(Device) {
  const Result failure = failure_of(__func__);
  const std::lock_guard lock(mutex);
  if (failure == success) held = 0;
  return failure;
}

}  // namespace behind
}  // namespace fake_driver
