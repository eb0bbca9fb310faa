#include "allocator/emulated/cuda/model/graph.h"

#include <algorithm>
#include <map>

namespace hbmscope::device {

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>();
  std::map<const GraphNode*, GraphNode*> copies;
  for (const GraphNode& node : nodes_) {
    GraphNode* made = copy->add(node.type, {});
    copies[&node] = made;
    made->device = node.device;
    made->bytes = node.bytes;
    made->address = node.address;
    for (const auto& body : node.bodies) made->bodies.push_back(body->clone());
  }
  for (const GraphNode& node : nodes_)
    for (const GraphNode* dependency : node.dependencies)
      if (const auto found = copies.find(dependency); found != copies.end())
        copies[&node]->dependencies.push_back(found->second);
  return copy;
}

std::map<int, Bytes> Graph::peak_by_device() const {
  std::map<int, Bytes> now, peak;
  std::map<Address, const GraphNode*> allocated;
  for (const GraphNode& node : nodes_) {
    for (const auto& body : node.bodies)
      for (const auto& [device, bytes] : body->peak_by_device())
        peak[device] = std::max(peak[device], now[device] + bytes);
    if (node.bytes != 0) {
      allocated[node.address] = &node;
      now[node.device] += node.bytes;
      peak[node.device] = std::max(peak[node.device], now[node.device]);
    } else if (const auto freed = allocated.find(node.address); freed != allocated.end()) {
      now[freed->second->device] -= freed->second->bytes;
      allocated.erase(freed);
    }
  }
  return peak;
}

}  // namespace hbmscope::device
