// Graphs of work: kept so that a program can ask for what it built. Launching one takes the memory of its allocation
// nodes (GraphMemory in machine.h), and does nothing else.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "allocator/emulated/cuda/model/outcome.h"

namespace hbmscope::device {

class Graph;

struct GraphNode {
  int type;  // CUgraphNodeType
  Graph* graph;
  std::vector<GraphNode*> dependencies;
  std::vector<std::unique_ptr<Graph>> bodies;  // The bodies of a conditional node, or the copy of a child graph.
  int device = 0;                              // Where an allocation node allocates, and how much.
  Bytes bytes = 0;
  Address address = 0;  // What an allocation node allocated, or what a free node frees.
};

class Graph {
 public:
  GraphNode* add(int type, std::vector<GraphNode*> dependencies) {
    nodes_.push_back(GraphNode{type, this, std::move(dependencies), {}, 0, 0, 0});
    return &nodes_.back();
  }
  // A node of a stream's capture comes after the one before it.
  GraphNode* add_captured(int type) {
    return add(type, nodes_.empty() ? std::vector<GraphNode*>{} : std::vector<GraphNode*>{&nodes_.back()});
  }
  // Nodes keep their addresses.
  const std::list<GraphNode>& nodes() const { return nodes_; }
  std::list<GraphNode>& nodes() { return nodes_; }
  // A copy of the nodes and what they depend on.
  std::unique_ptr<Graph> clone() const;
  // The most bytes that its nodes hold at once if they run in the order in which they were added, by device.
  std::map<int, Bytes> peak_by_device() const;

 private:
  std::list<GraphNode> nodes_;
};

}  // namespace hbmscope::device
