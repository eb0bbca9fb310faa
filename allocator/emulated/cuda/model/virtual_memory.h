// Physical memory that is separate from addresses (cuMemCreate, cuMemAddressReserve, cuMemMap). Physical memory belongs
// to a device from its creation until it has been released by all its owners and unmapped everywhere; reserving
// addresses and mapping take nothing. Two mappings of the same physical memory do not share their contents.
#pragma once

#include <map>

#include "allocator/emulated/cuda/model/ledger.h"
#include "allocator/emulated/cuda/model/ranges.h"

namespace hbmscope::device {

struct Physical {
  Bytes bytes;
  int device;      // -1: host memory.
  int owners = 1;  // Handles: creation, cuMemRetainAllocationHandle, import.
  int mappings = 0;
};

class VirtualMemory {
 public:
  explicit VirtualMemory(Bytes granularity = granularity_bytes) : granularity_(granularity) {}

  Answer reserve(Bytes bytes, Bytes alignment);
  Outcome release_reservation(Address begin, Bytes bytes);

  // `ledger` is null for host memory. `bytes` must be a multiple of the granularity. The id is in Answer::address.
  Answer create(Ledger* ledger, int device, Bytes bytes);
  const Physical* find(std::uint64_t id) const;
  Outcome retain(std::uint64_t id);
  // Returns the physical memory if that was its last owner and it is mapped nowhere: the caller returns it to the
  // ledger of its device.
  struct Gone {
    Outcome outcome = Outcome::invalid;
    Bytes bytes = 0;  // 0: it lives on.
    int device = -1;
  };
  Gone release(std::uint64_t id);

  Outcome map(Ranges& ranges, Address begin, Bytes bytes, std::uint64_t id);
  // `mapped` is of Kind::mapped.
  Gone unmap(Ranges& ranges, const Range& mapped);
  // True if the range lies within one reservation.
  bool is_reserved(Address begin, Bytes bytes) const;

 private:
  Gone let_go(std::map<std::uint64_t, Physical>::iterator physical);

  Bytes granularity_;
  std::map<Address, Bytes> reservations_;
  std::map<std::uint64_t, Physical> physical_;
  std::uint64_t ids_ = 0;
};

}  // namespace hbmscope::device
