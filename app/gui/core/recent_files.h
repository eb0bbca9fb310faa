// The list of files that were opened last: kept from one start to the next, written by a worker.
#pragma once

#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/worker_pool.h"

namespace hbmscope::gui {

class RecentFiles {
 public:
  // One that leaves no trace is never written.
  RecentFiles(AppState& state, WorkerPool& pool, bool leaves_no_trace);

  void find_missing();  // Marks those that are no longer there.
  void remember(const Source& source);
  void remove(const std::string& path);
  void keep();  // Writes the list where it has changed.

 private:
  AppState& state_;
  WorkerPool& pool_;
  const bool leaves_no_trace_;
  bool is_changed_ = false, is_being_written_ = false;
};

}  // namespace hbmscope::gui
