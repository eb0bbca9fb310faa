// What a person types to find blocks: the filter language of blocks, or an address, an offset or a size by itself.
#pragma once

#include <string>
#include <string_view>

namespace hbmscope {

//   0x7f3a14000000, 7f3a14000000, 139887842918400   the block at that address
//   +12.3GiB                                        the block at that offset
//   512MiB                                          blocks of that size, as three digits show it
//   size>1GiB stack:adam, adam                      the language as it is
std::string where_from_find(std::string_view find);

// Both must hold; either may be empty.
std::string where_of_both(std::string_view first, std::string_view second);

}  // namespace hbmscope
