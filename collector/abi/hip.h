// The types of AMD's HIP runtime that its memory calls use and CUDA's driver API does not have; the others, and the
// numbers of results, pools' attributes and kinds of graph nodes, are the same in both (cuda.h). Source:
// hip_runtime_api.h and driver_types.h of HIP 5.2 and 7.1. collector/inject/hip_entries_check.cpp compares them if the
// headers are available.
#pragma once

#include "collector/abi/cuda.h"

namespace hbmscope::hip {

using cuda::Address;
using cuda::Size;

struct GridSize {  // dim3
  unsigned x, y, z;
};
struct Extent {  // hipExtent
  Size width, height, depth;
};
struct PitchedPointer {  // hipPitchedPtr
  Address at;
  Size pitch, width, height;
};
struct ChannelFormat {  // hipChannelFormatDesc
  int bits[4];          // Each channel's.
  int kind;
};

constexpr Size rows_of(const Extent& extent) {
  return extent.height * extent.depth;
}

}  // namespace hbmscope::hip
