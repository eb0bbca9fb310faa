// Settings that `hbmscope run --emulate v5e:2x4` passes in environment variables (README.md).
#pragma once

#include <cstdint>
#include <string>

namespace hbmscope::allocator::tpu::plugin {

struct Settings {
  std::string library;          // HBMSCOPE_TPU_LIBRARY: the real libtpu.so.
  std::string topology;         // HBMSCOPE_TPU_TOPOLOGY: "v5e:2x4".
  std::string compiler_flags;   // LIBTPU_INIT_ARGS and XLA_FLAGS, which libtpu reads itself.
  std::uint64_t hbm_bytes = 0;  // HBMSCOPE_TPU_HBM_BYTES: each device's. At 0 what its compiler allows.
  std::string report;           // HBMSCOPE_DEVICE_REPORT: the folder for the account, if there is one.
  std::string cache;            // HBMSCOPE_TPU_CACHE: the folder for compiled programs, if there is one.
  std::string plans;            // HBMSCOPE_TPU_PLANS: the folder for the memory plans of programs, if there is one.
  bool defragments = true;      // HBMSCOPE_TPU_DEFRAGMENT=0: buffers stay where they are.
  // HBMSCOPE_TPU_RUNS_AHEAD: so many executions are in flight while the host goes on, and arrays that they use keep
  // their memory until then, unless it is needed. 0: each execution is over when the call returns.
  std::uint64_t runs_ahead = 0;
  // HBMSCOPE_TPU_HOST_BYTES: host memory for what programs copy to devices; beyond it, arrays read as zeros.
  std::uint64_t host_bytes = std::uint64_t{1} << 30;
};
const Settings& settings();  // Read once.

}  // namespace hbmscope::allocator::tpu::plugin
