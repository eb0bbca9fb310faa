// Graphs: what was added to them can be listed, and bodies of conditional nodes can be filled. Launches only take the
// memory of allocation nodes.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "allocator/emulated/cuda/driver/objects.h"
#include "allocator/emulated/cuda/model/address_space.h"

using namespace hbmscope::device;
using namespace hbmscope::device::driver;

namespace {

struct Executable {
  std::map<int, Bytes> bytes_by_device;  // What its allocation nodes need.
};

// CUgraphMem_attribute
namespace graph_attribute {
constexpr int used = 0, used_peak = 1, reserved = 2, reserved_peak = 3;
}

Graph& graph_from(Object handle) {
  return *static_cast<Graph*>(handle);
}
GraphNode& node_from(Object handle) {
  return *static_cast<GraphNode*>(handle);
}

GraphNode* add(Object* out, Object graph, const Object* dependencies, Size count, int type) {
  std::vector<GraphNode*> before;
  for (Size i = 0; dependencies != nullptr && i < count; ++i) before.push_back(&node_from(dependencies[i]));
  GraphNode* node = graph_from(graph).add(type, std::move(before));
  *out = node;
  return node;
}

Result add_child(Object* out, Object graph, const Object* dependencies, Size count, Object child) {
  add(out, graph, dependencies, count, node_type::graph)->bodies.push_back(graph_from(child).clone());
  return success;
}

// Writes at most *count handles to `out`, if it is not null, and the number of all to *count.
template <class Nodes>
Result list(const Nodes& nodes, Object* out, Size* count) {
  if (out != nullptr) std::copy_n(nodes.begin(), std::min(*count, nodes.size()), out);
  *count = nodes.size();
  return success;
}

Executable& executable_from(Object handle) {
  return *static_cast<Executable*>(handle);
}

// Its address is known at once; memory is taken by launches, and isn't known by its address.
Result add_allocation(Object* out, Object graph, const Object* dependencies, Size count, AllocationNode& parameters) {
  const LockedMachine machine;
  const int device = parameters.pool.location.id;
  if (parameters.bytes == 0 || device < 0 || device >= machine->device_count()) return error_invalid_value;
  const Bytes bytes = round_up(parameters.bytes, machine->granularity());
  parameters.address = reserve_addresses(bytes, machine->granularity(), Access::read_write);
  if (parameters.address == 0) return error_out_of_memory;
  GraphNode* node = add(out, graph, dependencies, count, node_type::mem_alloc);
  node->device = device;
  node->bytes = bytes;
  node->address = parameters.address;
  return success;
}
Result add_free(Object* out, Object graph, const Object* dependencies, Size count, Address address) {
  add(out, graph, dependencies, count, node_type::mem_free)->address = address;
  return success;
}

Result instantiate(Object* out, Object graph) {
  *out = new Executable{graph_from(graph).peak_by_device()};
  return success;
}

Result hold_memory(Object executable) {
  const LockedMachine machine;
  for (const auto& [device, bytes] : executable_from(executable).bytes_by_device) {
    Ledger& ledger = machine->device(device).ledger();
    const Outcome outcome = ledger.noted(bytes, machine->graph_memory(device).hold(ledger, executable, bytes));
    if (outcome != Outcome::ok) return result_from(outcome);
  }
  return success;
}

}  // namespace

HBMSCOPE_EXPORTED Result cuGraphCreate(Object* out, unsigned) {
  *out = new Graph;
  return success;
}
HBMSCOPE_EXPORTED Result cuGraphDestroy(Object graph) {
  delete static_cast<Graph*>(graph);
  return success;
}
HBMSCOPE_EXPORTED Result cuGraphClone(Object* out, Object graph) {
  *out = graph_from(graph).clone().release();
  return success;
}

// cuGraphAdd...Node: parameters are not kept.
#define ADDS_NODE(name, type, ...)                                                                                  \
  HBMSCOPE_EXPORTED Result name(Object* out, Object graph, const Object* dependencies, Size count, ##__VA_ARGS__) { \
    add(out, graph, dependencies, count, type);                                                                     \
    return success;                                                                                                 \
  }
ADDS_NODE(cuGraphAddKernelNode, node_type::kernel, const void*)
ADDS_NODE(cuGraphAddKernelNode_v2, node_type::kernel, const void*)
ADDS_NODE(cuGraphAddMemcpyNode, node_type::memcpy, const void*, Object)
ADDS_NODE(cuGraphAddMemsetNode, node_type::memset, const void*, Object)
ADDS_NODE(cuGraphAddHostNode, node_type::host, const void*)
ADDS_NODE(cuGraphAddEmptyNode, node_type::empty)
ADDS_NODE(cuGraphAddEventRecordNode, node_type::event_record, Object)
ADDS_NODE(cuGraphAddEventWaitNode, node_type::wait_event, Object)
ADDS_NODE(cuGraphAddBatchMemOpNode, node_type::batch_mem_op, const void*)
#undef ADDS_NODE

HBMSCOPE_EXPORTED Result cuGraphAddChildGraphNode(Object* out, Object graph, const Object* dependencies, Size count,
                                                  Object child) {
  return add_child(out, graph, dependencies, count, child);
}
HBMSCOPE_EXPORTED Result cuGraphAddMemAllocNode(Object* out, Object graph, const Object* dependencies, Size count,
                                                AllocationNode* parameters) {
  return add_allocation(out, graph, dependencies, count, *parameters);
}
HBMSCOPE_EXPORTED Result cuGraphAddMemFreeNode(Object* out, Object graph, const Object* dependencies, Size count,
                                               Address address) {
  return add_free(out, graph, dependencies, count, address);
}
HBMSCOPE_EXPORTED Result cuGraphAddNode_v2(Object* out, Object graph, const Object* dependencies, const void*,
                                           Size count, NodeParameters* parameters) {
  if (parameters->type == node_type::graph) return add_child(out, graph, dependencies, count, parameters->child_graph);
  if (parameters->type == node_type::mem_alloc)
    return add_allocation(out, graph, dependencies, count, parameters->allocation);
  if (parameters->type == node_type::mem_free) return add_free(out, graph, dependencies, count, parameters->freed);
  GraphNode* node = add(out, graph, dependencies, count, parameters->type);
  if (parameters->type != node_type::conditional) return success;
  // The graphs belong to the node; the list of them lives as long as the process, as nobody says who frees it.
  auto* bodies = new Object[parameters->conditional.count];
  for (unsigned i = 0; i < parameters->conditional.count; ++i) {
    node->bodies.push_back(std::make_unique<Graph>());
    bodies[i] = node->bodies.back().get();
  }
  parameters->conditional.graphs_out = bodies;
  return success;
}
HBMSCOPE_EXPORTED Result cuGraphAddNode(Object* out, Object graph, const Object* dependencies, Size count,
                                        NodeParameters* parameters) {
  return cuGraphAddNode_v2(out, graph, dependencies, nullptr, count, parameters);
}
// Since 13.4; the parameters are the same.
HBMSCOPE_EXPORTED Result cuGraphAddNode_v3(Object* out, Object graph, const Object* dependencies, const void* edges,
                                           Size count, NodeParameters* parameters) {
  return cuGraphAddNode_v2(out, graph, dependencies, edges, count, parameters);
}
HBMSCOPE_EXPORTED Result cuGraphConditionalHandleCreate(std::uint64_t* out, Object, Object, unsigned, unsigned) {
  static std::atomic<std::uint64_t> handles{0};
  *out = ++handles;
  return success;
}

HBMSCOPE_EXPORTED Result cuGraphGetNodes(Object graph, Object* out, Size* count) {
  std::vector<Object> nodes;
  for (GraphNode& node : graph_from(graph).nodes()) nodes.push_back(&node);
  return list(nodes, out, count);
}
HBMSCOPE_EXPORTED Result cuGraphGetRootNodes(Object graph, Object* out, Size* count) {
  std::vector<Object> nodes;
  for (GraphNode& node : graph_from(graph).nodes())
    if (node.dependencies.empty()) nodes.push_back(&node);
  return list(nodes, out, count);
}
HBMSCOPE_EXPORTED Result cuGraphNodeGetType(Object node, int* type) {
  *type = node_from(node).type;
  return success;
}
HBMSCOPE_EXPORTED Result cuGraphNodeGetDependencies(Object node, Object* out, Size* count) {
  return list(node_from(node).dependencies, out, count);
}
HBMSCOPE_EXPORTED Result cuGraphNodeGetDependencies_v2(Object node, Object* out, void*, Size* count) {
  return cuGraphNodeGetDependencies(node, out, count);
}
HBMSCOPE_EXPORTED Result cuGraphChildGraphNodeGetGraph(Object node, Object* graph) {
  if (node_from(node).bodies.empty()) return error_invalid_value;
  *graph = node_from(node).bodies[0].get();
  return success;
}

HBMSCOPE_EXPORTED Result cuGraphInstantiate(Object* out, Object graph, Object*, char*, Size) {
  return instantiate(out, graph);
}
HBMSCOPE_EXPORTED Result cuGraphInstantiate_v2(Object* out, Object graph, Object*, char*, Size) {
  return instantiate(out, graph);
}
HBMSCOPE_EXPORTED Result cuGraphInstantiateWithFlags(Object* out, Object graph, Flags) {
  return instantiate(out, graph);
}
HBMSCOPE_EXPORTED Result cuGraphInstantiateWithParams(Object* out, Object graph, InstantiateParameters* parameters) {
  parameters->result = 0;  // Success.
  return instantiate(out, graph);
}
HBMSCOPE_EXPORTED Result cuGraphExecDestroy(Object executable) {
  auto* destroyed = static_cast<Executable*>(executable);
  const LockedMachine machine;
  for (const auto& [device, bytes] : destroyed->bytes_by_device) machine->graph_memory(device).forget(executable);
  delete destroyed;
  return success;
}
HBMSCOPE_EXPORTED Result cuGraphExecUpdate_v2(Object executable, Object graph, UpdateResult* result) {
  executable_from(executable).bytes_by_device = graph_from(graph).peak_by_device();
  *result = UpdateResult{};
  return success;
}
HBMSCOPE_EXPORTED Result cuGraphExecUpdate(Object executable, Object graph, Object* error_node, int* result) {
  executable_from(executable).bytes_by_device = graph_from(graph).peak_by_device();
  *error_node = nullptr;
  *result = 0;  // Success.
  return success;
}
HBMSCOPE_EXPORTED Result cuGraphUpload(Object executable, Object) {
  return hold_memory(executable);
}
HBMSCOPE_EXPORTED Result cuGraphLaunch(Object executable, Object handle) {
  if (const Result result = hold_memory(executable); result != success) return result;
  Stream& stream = stream_from(handle);
  if (!is_captured(stream, node_type::graph)) run_kernels(stream);
  return success;
}
HBMSCOPE_EXPORTED Result cuDeviceGetGraphMemAttribute(DeviceOrdinal device, int which, void* value) {
  const LockedMachine machine;
  if (device < 0 || device >= machine->device_count()) return error_invalid_device;
  const GraphMemory& memory = machine->graph_memory(device);
  std::uint64_t bytes = 0;
  switch (which) {
    case graph_attribute::used: bytes = memory.used(); break;
    case graph_attribute::used_peak: bytes = memory.used_peak(); break;
    case graph_attribute::reserved: bytes = memory.reserved(); break;
    case graph_attribute::reserved_peak: bytes = memory.reserved_peak(); break;
    default: return error_invalid_value;
  }
  std::memcpy(value, &bytes, sizeof(bytes));
  return success;
}
// Peaks can be reset, to 0 alone.
HBMSCOPE_EXPORTED Result cuDeviceSetGraphMemAttribute(DeviceOrdinal device, int which, const void*) {
  const LockedMachine machine;
  if (device < 0 || device >= machine->device_count()) return error_invalid_device;
  if (which == graph_attribute::used_peak) machine->graph_memory(device).reset_used_peak();
  if (which == graph_attribute::reserved_peak) machine->graph_memory(device).reset_reserved_peak();
  return which == graph_attribute::used_peak || which == graph_attribute::reserved_peak ? success : error_invalid_value;
}
HBMSCOPE_EXPORTED Result cuDeviceGraphMemTrim(DeviceOrdinal device) {
  const LockedMachine machine;
  if (device < 0 || device >= machine->device_count()) return error_invalid_device;
  machine->graph_memory(device).trim(machine->device(device).ledger());
  return success;
}
