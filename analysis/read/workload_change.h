// A user's change to a TPU workload: KEY=VALUE of --what-if.
#pragma once

#include <string>
#include <string_view>

#include "analysis/model/result.h"

namespace hbmscope {

// "layers" = "32", "generation" = "v6e", "checkpointing" = "full", "mesh.fsdp" = "16", "buffers" = "3",
// "vmem.prefetches_max" = "4", "donation", "defragmentation", "gpu" = "on" or "off".
struct WorkloadChange {
  std::string key, value;

  friend bool operator==(const WorkloadChange&, const WorkloadChange&) = default;
};

// Parses "layers=32". Error: no key before an equals sign.
Result<WorkloadChange> parse_workload_change(std::string_view text);
std::string text_from_workload_change(const WorkloadChange& change);

}  // namespace hbmscope
