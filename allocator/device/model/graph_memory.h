// Memory of the allocation nodes of all graphs of one device. Documented: graphs that don't run at the same time share
// physical memory; it is taken when a graph is uploaded or launched, stays with the device afterwards, and is returned
// by cuDeviceGraphMemTrim. Here work runs at once, so the largest graph decides: one of 3 MiB and one of 5 MiB take 5
// MiB.
#pragma once

#include <map>

#include "allocator/device/model/ledger.h"

namespace hbmscope::device {

class GraphMemory {
 public:
  // `executable` identifies a graph that is uploaded or launched and needs that many bytes at its peak.
  [[nodiscard]] Outcome hold(Ledger& ledger, const void* executable, Bytes bytes);
  // The executable graph has been destroyed: what it held can be trimmed.
  void forget(const void* executable) { held_by_.erase(executable); }
  // Returns what no executable graph needs.
  void trim(Ledger& ledger);

  Bytes reserved() const { return reserved_; }
  Bytes reserved_peak() const { return reserved_peak_; }
  Bytes used() const;  // By executable graphs that were uploaded or launched.
  Bytes used_peak() const { return used_peak_; }
  void reset_reserved_peak() { reserved_peak_ = reserved_; }
  void reset_used_peak() { used_peak_ = used(); }

 private:
  std::map<const void*, Bytes> held_by_;
  Bytes reserved_ = 0, reserved_peak_ = 0, used_peak_ = 0;
};

}  // namespace hbmscope::device
