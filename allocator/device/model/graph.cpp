#include "allocator/device/model/graph.h"

#include <map>

namespace hbmscope::device {

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>();
  std::map<const GraphNode*, GraphNode*> copies;
  for (const GraphNode& node : nodes_) {
    GraphNode* made = copy->add(node.type, {});
    copies[&node] = made;
    for (const auto& body : node.bodies) made->bodies.push_back(body->clone());
  }
  for (const GraphNode& node : nodes_)
    for (const GraphNode* dependency : node.dependencies)
      if (const auto found = copies.find(dependency); found != copies.end())
        copies[&node]->dependencies.push_back(found->second);
  return copy;
}

}  // namespace hbmscope::device
