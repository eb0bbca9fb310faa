// Memory of CUDA graphs. No call allocates the memory of a graph's nodes. So we query how much the driver holds for all
// graphs of a device and record it as handles of the device, one more at each growth. Nothing is recorded where the
// driver can't be queried (CUPTI).
#pragma once

#include "collector/inject/driver_rows.h"

namespace hbmscope::inject::driver {

// A graph has a node that allocates memory: from now on the driver is queried.
void note_graph_memory();
void note_graph_node(const void* node);  // CUgraphNodeParams
void report_graph_memory(const DriverCall& call);
void report_graph_memory(const DriverCall& call, Device device);

// Some stream is being captured: from now on the driver is queried for each stream.
void note_capture();
// True if `call`, made on the stream, became a node of a graph.
bool is_captured(const DriverCall& call, Object stream);

// Called in a child after fork().
void forget_graphs();

}  // namespace hbmscope::inject::driver
