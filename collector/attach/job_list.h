// The processes of this machine that hold device memory or could: those that have loaded a driver, a PJRT plugin or an
// annotated allocator.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/attach/device_totals.h"
#include "collector/attach/job_memory.h"
#include "collector/attach/permission.h"
#include "collector/attach/visible_memory.h"

namespace hbmscope::attach {

struct RunningJob {
  pid_t process = 0, parent = 0;
  std::uint32_t uid = 0;
  std::string user;                     // The user's name, or the number.
  std::string command;                  // As ps shows it.
  std::vector<std::string> frameworks;  // "jax 0.10.2", "torch 2.9.1"
  // What the process has loaded; all false if we may not look.
  bool has_cuda = false, has_pjrt = false, has_annotations = false, has_collector = false;
  VisibleMemory visible;
  std::vector<std::string> devices;  // Device files that it has open: "nvidia0", "accel1".
  struct Holding {
    std::uint32_t device = 0;  // Ordinal, as the driver numbers devices.
    std::optional<std::uint64_t> bytes;
  };
  std::vector<Holding> holdings;
  std::optional<Refusal> refusal;  // Why it can't be attached to.
};

struct JobList {
  std::vector<DeviceTotals> devices;
  std::vector<RunningJob> jobs;     // The largest holder first, then by process number.
  std::uint64_t not_looked_at = 0;  // Processes that are not jobs as far as we can see; we may not look into them.
};
JobList list_jobs();

bool has_cuda_driver(const std::vector<Mapping>& mappings);
// By the folders that pip leaves beside a loaded package: "jax-0.10.2.dist-info".
std::vector<std::string> find_frameworks(pid_t process, const std::vector<Mapping>& mappings);

}  // namespace hbmscope::attach
