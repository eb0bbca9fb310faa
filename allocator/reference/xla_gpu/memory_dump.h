// What XLA writes at each failure if TF_BFC_MEMORY_DUMP is set: a serialized tensorflow.MemoryDump
// (xla/tsl/protobuf/bfc_memory_map.proto) with bins, every chunk, and statistics.
#pragma once

#include <string>

#include "allocator/reference/xla_gpu/bfc.h"

namespace hbmscope::allocator {

std::string memory_dump(const xla_gpu::Bfc& allocator, const std::string& allocator_name = "GPU_0_bfc");

}  // namespace hbmscope::allocator
