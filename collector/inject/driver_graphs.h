// Memory of CUDA graphs: what their nodes take is nobody's call. The driver is asked what it holds for all graphs of a
// device, and that is told as handles of the device, one more with each growth. Where the driver may not be asked,
// nothing is told.
#pragma once

#include "collector/inject/driver_rows.h"

namespace hbmscope::inject::driver {

// A graph has a node that takes memory: from then on the driver is asked.
void note_graph_memory();
void note_graph_node(const void* node);  // CUgraphNodeParams
void tell_graph_memory(const DriverCall& call);
void tell_graph_memory(const DriverCall& call, Device device);

// Some stream is being captured: from then on the driver is asked whether one is.
void note_capture();
// What `call` asked of the stream became a node of a graph.
bool is_captured(const DriverCall& call, Object stream);

// In a child after fork().
void forget_graphs();

}  // namespace hbmscope::inject::driver
