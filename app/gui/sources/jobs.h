// The jobs of a machine, as hbmscope ps lists them, for choosing one to attach to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope::gui {

struct JobRow {
  std::int64_t process = 0, parent = 0;
  bool has_cuda = false;
  std::string user, command;
  std::string loaded;                  // "jax 0.10.2, CUDA"
  std::optional<std::uint64_t> bytes;  // On all devices, as far as the driver reports them.
  std::vector<std::uint32_t> devices;  // Those that it holds memory of.
  std::optional<std::int64_t> observer;
  std::string refusal, remedy;  // Empty: it can be attached to.

  bool can_be_attached() const { return refusal.empty() && !observer; }
  // It can't be attached to, but what the driver reports about it can be recorded.
  bool has_totals_alone() const { return !refusal.empty() && !observer && !devices.empty(); }
};
struct JobListing {
  struct Device {
    std::string name;
    std::uint64_t total_bytes = 0, used_bytes = 0;
  };
  std::vector<Device> devices;
  std::vector<JobRow> jobs;
  std::uint64_t not_looked_at = 0;  // Processes that this user may not inspect.
};
// A line of `hbmscope ps --json --every`.
Result<JobListing> job_listing_from(const std::string& json);

// So many of the same user and command as this one can be attached to, itself too: the ranks of one job, as
// hbmscope attach --all finds them. A child of one that holds no device memory is a helper of it.
std::size_t count_ranks(const JobListing& listing, const JobRow& job);

// The device under which it stands in a list: the first that it holds memory of; behind all others where it holds none.
std::uint32_t device_of(const JobRow& job);
// Device by device, and within one as ps lists them, those whose number, user, command or what is loaded contains each
// word of the filter.
std::vector<const JobRow*> filter_jobs(const JobListing& listing, const std::string& filter);

struct JobsState {
  bool is_open = false;  // The window of its own; without a file the list is on the first page.
  std::optional<JobListing> listing;
  std::string wrong;        // Why there is none.
  std::string host;         // Whose jobs are listed, by ssh; empty: this machine's.
  bool is_copying = false;  // What is needed there.
  // hbmscope has to be copied there first, which a person must agree to (hbmscope ps --on HOST says it in these words).
  bool needs_copy() const { return !is_copying && wrong.find("hbmscope is not there yet") != std::string::npos; }
  std::string filter;
  std::int64_t chosen = 0;    // A process; 0: the first one.
  bool leaves_cupti = false;  // To the jobs' own profilers, when they are attached to.
  bool is_asking = false;     // What attaching to the chosen one does stands there, to be agreed to.
};

}  // namespace hbmscope::gui
