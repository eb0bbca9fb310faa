// The last line of XLA's report: all regions one after the other in a hundred characters.
#pragma once

#include <string>

#include "allocator/xla_gpu/bfc.h"

namespace hbmscope::allocator {

// '*' requested bytes, 'x' what blocks take beyond them, '_' free; what covers a character last, shows.
std::string occupancy_text(const xla_gpu::Bfc& allocator);

}  // namespace hbmscope::allocator
