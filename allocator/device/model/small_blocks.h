// Small requests share pages of 2 MiB: two requests for 512 B take 2 MiB of a device, not 4 MiB. Assumed, because the
// driver's rules are not public: requests of less than 1 MiB share, they are rounded up to 512 B, the lowest place that
// is large enough is used, and an empty page is given back at once.
#pragma once

#include <map>

#include "allocator/device/model/holes.h"
#include "allocator/device/model/ledger.h"

namespace hbmscope::device {

inline constexpr Bytes small_below_bytes = Bytes{1} << 20;
inline constexpr Bytes small_unit_bytes = 512;

class SmallBlocks {
 public:
  // 0 < bytes < small_below_bytes. A new page is taken from the ledger.
  Answer allocate(Ledger& ledger, Bytes bytes);
  // `bytes` as in the request.
  void free(Ledger& ledger, Address address, Bytes bytes);

 private:
  std::map<Address, Holes> pages_;
};

}  // namespace hbmscope::device
