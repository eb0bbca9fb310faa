// Changes of a TPU workload. A worker emulates it again, and the new trace replaces the previous one.
#pragma once

#include <memory>
#include <vector>

#include "app/gui/core/answering.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/core/open_sources.h"
#include "app/gui/core/side_by_side.h"
#include "app/gui/core/worker_pool.h"

namespace hbmscope::gui {

class Emulation {
 public:
  Emulation(AppState& state, Answering& asking, SideBySide& sides, OpenSources& sources, WorkerPool& pool);

  void want_changes(std::vector<WorkloadChange> changes);
  void stop_emulating();

 private:
  Source& source_of_this_side(Source& source);
  void start_emulating(Source& source);
  void finish_emulating(const std::shared_ptr<const Emulating>& run, const Result<SourceContent>& content);
  void take_emulation(Source& source, const SourceContent& content);

  AppState& state_;
  Answering& asking_;
  SideBySide& sides_;
  OpenSources& sources_;
  WorkerPool& pool_;
};

}  // namespace hbmscope::gui
