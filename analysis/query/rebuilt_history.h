// The history of an address (block_history.h), computed by rebuilding the whole heap, at 60 to 350 ns per event. For
// streams in which blocks move, and for verifying that range_watch.h yields the same.
#pragma once

#include "analysis/query/block_history.h"

namespace hbmscope {

// Returns nothing if it was cancelled.
std::optional<AddressHistory> rebuild_address_history(const Stream& stream, std::uint32_t heap, AddressRange range,
                                                      std::uint64_t position, PassControl* control = nullptr);

}  // namespace hbmscope
