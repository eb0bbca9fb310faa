// The allocator of a recorded job: which one, in which version, with which settings, on a device of which size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/reference/catalog/jax_plugin_options.h"
#include "analysis/model/result.h"
#include "analysis/query/device_requests.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// Variables of PyTorch's allocator, and of the fraction of the device that JAX's pool may have; newer and older names.
inline constexpr std::string_view torch_conf = "PYTORCH_CUDA_ALLOC_CONF", torch_conf_newer = "PYTORCH_ALLOC_CONF",
                                  fraction_newer = "XLA_CLIENT_MEM_FRACTION",
                                  fraction_older = "XLA_PYTHON_CLIENT_MEM_FRACTION";

struct OwnSettings {
  bool is_pytorch = false;             // Otherwise JAX's allocator, or TensorFlow's, which has the same rules.
  bool is_allocator_known = true;      // False: JAX's pool is assumed.
  std::string version;                 // xla_gpu's, "spatial_v3". Empty means PyTorch.
  bool is_version_known = true;        // False: assumed, by whether the pool has two ends.
  std::string package;                 // "jaxlib 0.10.2", "torch 2.9.1". Empty if not recorded.
  std::string_view fraction_variable;  // JAX's. Empty means PyTorch.
  // Those that count, by their variables; PyTorch's as PYTORCH_CUDA_ALLOC_CONF.
  std::vector<allocator::Setting> settings;
  std::uint64_t device_bytes = 0;   // The device's total memory.
  bool is_device_recorded = false;  // False: it was given, and may be another one.
  bool is_device_at_least = false;  // Its size follows from a failure: the pool and what was free outside of it.
  // xla_gpu's, as reported, or the size of a pool that was claimed at once: a program may have set it otherwise than
  // by variables. Absent if it follows from these.
  std::optional<std::uint64_t> limit_bytes;
  // What the pool can't have, because something else takes it: contexts, libraries, other processes.
  std::uint64_t outside_bytes = 0;
  bool is_outside_known = false;   // False: outside_bytes is only what was seen, or 0.
  std::vector<std::string> notes;  // What is assumed; sentences without a full stop.
};

// For the heaps that `requests` were taken from. `device_bytes` replaces the size that was recorded,
// and `device_bytes_otherwise` is that of a device of unknown size; 0: that is an error. Errors: the size is
// neither recorded nor given, or the memory is a TPU's.
Result<OwnSettings> find_own_settings(const Trace& trace, const DeviceRequests& requests,
                                      std::optional<std::uint64_t> device_bytes,
                                      std::uint64_t device_bytes_otherwise = 0);

// The version of XLA's allocator in a release of jaxlib, by the table in allocator/README.md. Empty if it is not in it.
std::string_view version_of_jaxlib(std::string_view release);

// What PyTorch requests from the driver for a request: a segment of 2 MiB, of 20 MiB, or of its own size.
std::uint64_t segment_bytes_of_torch(std::uint64_t bytes);

// The variable of the fraction: the one that the job had set, or what its release of jaxlib has. The older name where
// neither is recorded: all releases know it.
std::string_view fraction_variable(const Definitions& definitions);

}  // namespace hbmscope
