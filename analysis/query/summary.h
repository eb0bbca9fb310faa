// The first thing a person reads: one sentence that says what this file is and how much is held, then totals by
// device and kind, and what the file does not know.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/query/groups.h"

namespace hbmscope {

struct ProfileSummary {
  std::string headline;  // "JAX device memory profile: 11.8 GiB in 1,203 buffers on 8 devices."
  std::string producer;  // "JAX device memory profile", "Go heap profile", "pprof profile"
  Weight total;
  std::string unit;                 // Of total.bytes: "bytes", or the primary unit of a profile without bytes.
  std::vector<GroupRow> by_device;  // One row without a name where the profile has no devices.
  std::vector<GroupRow> by_kind;
  std::vector<std::string> notes;  // What the figures are not: array sizes before rounding and padding; unknown sizes.
};
ProfileSummary compute_summary(const ProfileView& view);

// One profile of a series: totals over many files, in the order of their time, or as given where they have none.
struct SeriesPoint {
  std::string file;
  std::int64_t time_ns = 0;  // From the file's header, else 0.
  Weight total;
  std::vector<GroupRow> by_device;
};
std::vector<SeriesPoint> compute_series(const std::vector<ProfileView>& views);
// The order of a series, for points that were computed one at a time: by time, or as they are where one has none.
void sort_series(std::vector<SeriesPoint>& points);

}  // namespace hbmscope
