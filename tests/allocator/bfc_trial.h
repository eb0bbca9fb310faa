// One trial per seed: compares an allocator with random options with the naive one, under the same requests.
#pragma once

#include <cstdint>
#include <string>

#include "allocator/reference/interface/virtual_addresses.h"
#include "allocator/reference/xla_gpu/bfc.h"

namespace hbmscope::allocator {

struct Trial {
  xla_gpu::Options options;
  VirtualOptions upstream;
  std::uint32_t operations = 0;
  bool ends_in_fault = false;  // Filled by run_trial.
};

// Of this version; everything else is random.
Trial make_trial(std::uint64_t seed, xla_gpu::Version version);

// Empty: all answers, statistics and chunks agree. Otherwise the first difference.
std::string run_trial(std::uint64_t seed, Trial& trial);

}  // namespace hbmscope::allocator
