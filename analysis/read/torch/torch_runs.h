// The entries of each device, in runs without a gap, each with the state that it began with. A snapshot has one run for
// each device; one that was joined from several (join_pieces.h) has another one after each gap.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/read/torch/torch_history.h"
#include "analysis/read/torch/torch_snapshot.h"

namespace hbmscope {

struct TorchDeviceRun {
  const TorchTrace* trace = nullptr;    // The snapshot's, or null if the device has segments, but no entries.
  std::vector<std::uint32_t> segments;  // As they were at its end.
  TorchHistory history;
};

// By device, oldest first: all devices that have segments or entries. Only the last run of a device can have no trace.
std::map<std::int32_t, std::vector<TorchDeviceRun>> compute_torch_runs(const TorchSnapshot& snapshot);

}  // namespace hbmscope
