#include "analysis/read/torch/torch_runs.h"

#include <utility>

namespace hbmscope {

std::map<std::int32_t, std::vector<TorchDeviceRun>> compute_torch_runs(const TorchSnapshot& snapshot) {
  std::map<std::int32_t, std::vector<TorchDeviceRun>> runs;
  for (const TorchRun& run : snapshot.earlier_runs) {
    TorchDeviceRun& found = runs[run.trace.device].emplace_back();
    found.trace = &run.trace;
    for (std::uint32_t i = run.segment_begin; i < run.segment_end; ++i) found.segments.push_back(i);
  }
  std::map<std::int32_t, TorchDeviceRun> last;
  for (std::uint32_t i = 0; i < snapshot.segments_at_end(); ++i)
    last[snapshot.segments.device[i]].segments.push_back(i);
  for (const TorchTrace& trace : snapshot.traces)
    if (trace.size() > 0) last[trace.device].trace = &trace;
  for (auto& [device, run] : last) runs[device].push_back(std::move(run));
  for (auto& [device, of_device] : runs) {
    TorchTrace none;
    none.device = device;
    for (TorchDeviceRun& run : of_device)
      run.history = compute_torch_history(snapshot, run.trace != nullptr ? *run.trace : none, run.segments);
  }
  return runs;
}

}  // namespace hbmscope
