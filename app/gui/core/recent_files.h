// The list of recently opened files. A worker writes it, and it survives restarts.
#pragma once

#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/kept_file.h"
#include "app/gui/core/worker_pool.h"

namespace hbmscope::gui {

class RecentFiles {
 public:
  // With `leaves_no_trace` the list is never written.
  RecentFiles(AppState& state, WorkerPool& pool, bool leaves_no_trace);

  void find_missing();  // Marks files that no longer exist.
  void remember(const Source& source);
  void remove(const std::string& path);
  void keep();  // Writes the list if it changed.

 private:
  AppState& state_;
  WorkerPool& pool_;
  KeptFile file_;
};

}  // namespace hbmscope::gui
