// Small requests share pages of 2 MiB: two requests for 512 B take 2 MiB of a device, not 4 MiB. Assumed, because the
// driver's rules are not public: requests of less than half a page share, they are rounded up to 512 B, the lowest
// place that is large enough is used, and an empty page is given back at once. Pages are as large as the granularity;
// if that is 1 KiB or less, nothing shares.
#pragma once

#include <map>

#include "allocator/device/model/holes.h"
#include "allocator/device/model/ledger.h"

namespace hbmscope::device {

inline constexpr Bytes small_unit_bytes = 512;

class SmallBlocks {
 public:
  explicit SmallBlocks(Bytes page_bytes) : page_bytes_(page_bytes) {}

  bool is_small(Bytes bytes) const { return page_bytes_ / 2 > small_unit_bytes && bytes < page_bytes_ / 2; }
  // `bytes` is small and not 0. A new page is taken from the ledger.
  Answer allocate(Ledger& ledger, Bytes bytes);
  // `bytes` as in the request.
  void free(Ledger& ledger, Address address, Bytes bytes);

 private:
  Bytes page_bytes_;
  std::map<Address, Holes> pages_;
};

}  // namespace hbmscope::device
