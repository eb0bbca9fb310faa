// The jobs of a machine, as listed by hbmscope ps, to select one to attach to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/result.h"
#include "collector/view/far_host.h"

namespace hbmscope::gui {

struct JobRow {
  std::int64_t process = 0, parent = 0;
  bool has_cuda = false;
  std::string user, command;
  std::string loaded;                  // "jax 0.10.2, CUDA"
  std::string visible;                 // What can be seen of it. Empty if unknown.
  std::optional<std::uint64_t> bytes;  // On all devices, as far as the driver reports it.
  std::vector<std::uint32_t> devices;  // Devices on which it holds memory.
  std::optional<std::int64_t> observer;
  std::string refusal, remedy;  // Empty: it can be attached to.

  bool can_be_attached() const { return refusal.empty() && !observer; }
  // It can't be attached to, but its totals can be recorded from the driver.
  bool has_totals_alone() const { return !refusal.empty() && !observer && !devices.empty(); }
};
struct JobListing {
  struct Device {
    std::string name;
    std::optional<std::uint64_t> total_bytes, used_bytes;  // Absent: not reported.
    std::string title;  // "GPU 0", "GPU 0 MIG 1". Empty if another machine's hbmscope is older.
  };
  std::vector<Device> devices;
  std::vector<JobRow> jobs;
  std::uint64_t not_looked_at = 0;  // Processes that this user may not inspect.
};
// Parses a line of `hbmscope ps --json --every`.
Result<JobListing> job_listing_from(const std::string& json);

// The number of attachable jobs with the same user and command as `job`, including itself: the ranks of one job, as
// found by hbmscope attach --all. A child process that holds no device memory is a helper and does not count.
std::size_t count_ranks(const JobListing& listing, const JobRow& job);

// The device that groups the job in the list: the first on which it holds memory. Jobs without device memory come last.
std::uint32_t device_of(const JobRow& job);
// The jobs whose number, user, command or loaded libraries contain each word of the filter, grouped by device, and by
// their numbers within a device, so that no row moves because another job's memory changes. Helpers of jobs, which hold
// no device memory, are left out.
std::vector<const JobRow*> filter_jobs(const JobListing& listing, const std::string& filter);

struct JobsState {
  bool is_open = false;  // As a window of its own; while no file is open, the list is on the first page.
  std::optional<JobListing> listing;
  std::string wrong;        // Why there is no list.
  std::string host;         // List the jobs of this machine over ssh. Empty means this machine.
  bool is_copying = false;  // Copying hbmscope to `host`.
  // hbmscope must first be copied there, with the user's consent.
  bool needs_copy() const { return !is_copying && wrong.find(view::not_there_yet) != std::string::npos; }
  std::string filter;
  std::int64_t chosen = 0;    // A process id. 0 means the first job.
  bool leaves_cupti = false;  // On attaching, leave CUPTI to the jobs' own profilers.
  bool is_asking = false;     // Shows what attaching to the selected job does and waits for consent.
};

}  // namespace hbmscope::gui
