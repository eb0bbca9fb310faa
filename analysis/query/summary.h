// The first thing that a user reads: one sentence about what this file is and how much memory is held, then totals by
// device and kind, and what the file does not contain.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/query/groups.h"
#include "analysis/query/user_code.h"

namespace hbmscope {

struct ProfileSummary {
  std::string headline;  // "JAX device memory profile: 11.8 GiB in 1,203 buffers on 8 devices."
  std::string producer;  // "JAX device memory profile", "Go heap profile", "pprof profile"
  Weight total;
  std::string unit;                 // The unit of total.bytes: "bytes", or the primary unit of a profile without bytes.
  std::vector<GroupRow> by_device;  // One row without a name if the profile has no devices.
  std::vector<GroupRow> by_kind;
  std::vector<std::string> notes;  // Limits of the figures: array sizes before rounding and padding; unknown sizes.
};
ProfileSummary compute_summary(const ProfileView& view);

// One profile of a series: totals over many files, ordered by time, or as given if a file has none.
struct SeriesPoint {
  std::string file;
  std::int64_t time_ns = 0;  // From the file's header. 0 if unknown.
  Weight total;
  std::vector<GroupRow> by_device;
  std::vector<UserCodeRow> lines;  // Of your code, the largest first.
};
std::vector<SeriesPoint> compute_series(const std::vector<ProfileView>& views);
// Sorts points that were computed one by one: by time, or unchanged if one has no time.
void sort_series(std::vector<SeriesPoint>& points);

// What changed from the first file of a series to the last one.
struct SeriesGrowth {
  // The lines that are largest anywhere, those first that changed most in the direction of the totals, and last the
  // others together: their bytes in each file.
  struct Line {
    std::string name;  // "remember_activations train.py:77"
    std::vector<std::int64_t> bytes;
  };
  std::vector<Line> lines;
  std::int64_t bytes = 0;           // Of the totals.
  std::optional<std::size_t> line;  // The one that changed most in the direction of the totals.
  // Between the first file and the last one, if all names differ in one number that rises: "leak_step_010".
  std::optional<std::uint64_t> steps;
};
SeriesGrowth compute_series_growth(const std::vector<SeriesPoint>& points);

}  // namespace hbmscope
