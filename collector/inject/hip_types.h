// The types of AMD's HIP runtime that its memory calls use and CUDA's driver API does not have; the others, and the
// numbers of results, pools' attributes and kinds of graph nodes, are the same in both (driver_types.h). Source:
// hip_runtime_api.h and driver_types.h of HIP 5.2 and 7.1. hip_types_check.cpp compares them if the headers are
// available.
#pragma once

#include "collector/inject/driver_types.h"

namespace hbmscope::inject::driver {

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
  int bits[4];          // Of each channel.
  int kind;
};

constexpr Size rows_of(const Extent& extent) {
  return extent.height * extent.depth;
}

}  // namespace hbmscope::inject::driver
