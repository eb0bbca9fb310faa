// What hbmscope can show of a job once it is attached, as far as it can be known beforehand: from the libraries that
// the job has loaded, and from the environment with which it was started. Variables that a program sets itself are not
// seen.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/attach/job_memory.h"

namespace hbmscope::attach {

struct VisibleMemory {
  struct Pool {
    std::string framework;  // "JAX", "PyTorch", "TensorFlow"
    std::string allocator;  // "XLA's BFC", "cudaMallocAsync"; of a pool that is not visible: why.
    bool is_visible = false;
    bool has_arrays = false;  // PJRT says which array is in a block.
  };
  std::vector<Pool> pools;
  bool has_driver_calls = false;  // A CUDA driver is loaded, so CUPTI may report its calls.
  bool has_annotations = false;
};

// In the content of /proc/PID/environ; the first one counts, as in getenv().
std::optional<std::string_view> find_variable(std::string_view environment, std::string_view name);

// `environment`: as above, or empty if it is unknown.
// `frameworks`: as in RunningJob.
VisibleMemory find_visible_memory(const std::vector<Mapping>& mappings, std::string_view environment,
                                  const std::vector<std::string>& frameworks, bool has_annotations);

// "pool of JAX (XLA's BFC), arrays by PJRT; driver calls by CUPTI if it is free". `how`: by what driver calls are seen;
// empty: not said.
std::string text_from_visible(const VisibleMemory& visible, std::string_view how = "by CUPTI if it is free");

}  // namespace hbmscope::attach
