// The last line of XLA's report: all regions, one after another, in a hundred characters.
#pragma once

#include <string>

#include "allocator/xla_gpu/bfc.h"

namespace hbmscope::allocator {

// '*': requested bytes; 'x': the rest of a block; '_': free. If several parts cover a character, the last one wins.
std::string occupancy_text(const xla_gpu::Bfc& allocator);

}  // namespace hbmscope::allocator
