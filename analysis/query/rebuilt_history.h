// What an address held (block_history.h), found by rebuilding all of the heap on the way, 60 to 350 ns an event: for
// streams in which blocks move, and to check by that watching the address alone sees the same.
#pragma once

#include "analysis/query/block_history.h"

namespace hbmscope {

// Nothing where it was cancelled.
std::optional<AddressHistory> rebuild_address_history(const Stream& stream, std::uint32_t heap, AddressRange range,
                                                      std::uint64_t position, PassControl* control = nullptr);

}  // namespace hbmscope
