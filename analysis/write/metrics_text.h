// The figures of a trace at one time in Prometheus's text format, version 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/trace/moment.h"

namespace hbmscope {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;  // {"pod", "trainer-0"}

// Each heap that counts (trace/layers.h) with the labels heap, device, uuid, rank and process, where known, and those
// of `more`. A figure that the source can't know is left out.
std::string metrics_text(const Trace& trace, const std::vector<StreamState>& states, const MetricLabels& more);

}  // namespace hbmscope
