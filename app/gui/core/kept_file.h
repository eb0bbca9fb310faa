// Writes something to the state folder after it changed, on a worker. There is one writer at a time, so that an older
// version never overwrites a newer one.
#pragma once

#include <functional>
#include <utility>

#include "app/gui/core/worker_pool.h"

namespace hbmscope::gui {

class KeptFile {
 public:
  // With `leaves_no_trace` nothing is ever written.
  KeptFile(WorkerPool& pool, bool leaves_no_trace) : pool_(pool), leaves_no_trace_(leaves_no_trace) {}

  void note_change() { is_changed_ = true; }
  // If there was a change: `copy()` returns the function that the worker calls, with its own copy of the data.
  template <class Copy>
  void keep(const Copy& copy) {
    if (leaves_no_trace_ || !is_changed_ || is_being_written_) return;
    is_changed_ = false;
    is_being_written_ = true;
    pool_.post([this, write = std::function<void()>(copy())]() -> WorkerPool::Finish {
      write();
      return [this] { is_being_written_ = false; };
    });
  }

 private:
  WorkerPool& pool_;
  const bool leaves_no_trace_;
  bool is_changed_ = false, is_being_written_ = false;
};

}  // namespace hbmscope::gui
