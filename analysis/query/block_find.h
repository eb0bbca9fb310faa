// Converts the text of a find field to a block filter: either a filter, or just an address, an offset or a size.
#pragma once

#include <string>
#include <string_view>

namespace hbmscope {

//   0x7f3a14000000, 7f3a14000000, 139887842918400   the block at that address
//   +12.3GiB                                        the block at that offset
// blocks of that size when rounded to three digits
// unmodified
std::string where_from_find(std::string_view find);

// Combines two filters with "and"; either may be empty.
std::string where_of_both(std::string_view first, std::string_view second);

}  // namespace hbmscope
