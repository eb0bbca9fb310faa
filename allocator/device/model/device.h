// One device: its memory as a number, and the blocks of cuMemAlloc in it.
#pragma once

#include "allocator/device/model/ranges.h"
#include "allocator/device/model/small_blocks.h"

namespace hbmscope::device {

class Device {
 public:
  Device(int ordinal, Ledger ledger, Bytes context_bytes, Bytes granularity = granularity_bytes)
      : ordinal_(ordinal),
        context_bytes_(context_bytes),
        granularity_(granularity),
        ledger_(ledger),
        small_(granularity) {}

  // A context takes memory for itself: the heap of printf and malloc, code, page tables. Each of a device's contexts
  // takes as much as the first.
  Outcome open_context();
  void close_context();
  int contexts() const { return contexts_; }
  Bytes context_bytes() const { return context_bytes_; }

  // Small requests share pages (small_blocks.h), others are rounded up to the granularity. `kind` is device or array.
  Answer allocate(Ranges& ranges, Bytes bytes, std::uint64_t context, Kind kind = Kind::device);
  // `range` is on this device, and of one of those kinds.
  void free(Ranges& ranges, const Range& range);

  int ordinal() const { return ordinal_; }
  Ledger& ledger() { return ledger_; }
  const Ledger& ledger() const { return ledger_; }

 private:
  int ordinal_;
  Bytes context_bytes_, granularity_;
  int contexts_ = 0;
  Ledger ledger_;
  SmallBlocks small_;
};

}  // namespace hbmscope::device
