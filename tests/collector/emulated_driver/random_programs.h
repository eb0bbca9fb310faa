// What random_programs.cpp writes and compare_programs.cpp reads.
#pragma once

#include <cstdint>

#include "collector/abi/cuda.h"

namespace hbmscope::random_programs {

constexpr std::uint64_t step_mark = std::uint64_t{1} << 50;  // Added to the number of a step.

struct Step {
  std::uint64_t mark;
  std::uint64_t program;       // Its seed.
  std::int64_t used_bytes[2];  // Of each device, as the driver counts.
  std::int64_t kept_bytes[2];  // The part of them that pools keep, and nobody uses.
  std::int64_t managed_bytes, host_bytes;
};

}  // namespace hbmscope::random_programs
