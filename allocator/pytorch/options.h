// The settings of PyTorch's caching allocator: those of PYTORCH_CUDA_ALLOC_CONF, the device, and the fraction of its
// memory that the program allows itself.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "allocator/interface/allocator.h"
#include "allocator/interface/lifted_rules.h"

namespace hbmscope::allocator::pytorch {

// Into how many steps the sizes between two powers of two are divided, by size: the first entry is for sizes below
// 2 MiB, the next for sizes from 2 MiB, then 4 MiB, ..., the last for all sizes from 32 GiB. Entries are 0 or powers of
// two; with 0 or 1, sizes are rounded to 512 B.
using RoundupDivisions = std::array<std::uint64_t, 16>;

struct Options {
  bool expandable_segments = false;
  std::uint64_t max_split_bytes = no_limit;  // Larger blocks are never split.
  // How much larger such a block may be than the request.
  std::uint64_t max_non_split_rounding_bytes = std::uint64_t{20} << 20;
  RoundupDivisions roundup_power2_divisions = {};
  std::uint64_t device_bytes = std::uint64_t{80} << 30;  // 9/8 of it is reserved for each expandable segment.
  // torch.cuda.set_per_process_memory_fraction(): below 1, segments may take that part of the device.
  double memory_fraction = 1;
  // Above 0, and with a fraction below 1: when segments take more than this part of what they may take, cached segments
  // that were not used for long are released before the driver is called.
  double garbage_collection_threshold = 0;
  LiftedRules lifted;
};

// Parses PYTORCH_CUDA_ALLOC_CONF: "expandable_segments:True,max_split_size_mb:128", as c10/cuda/CUDAAllocatorConfig.cpp
// of PyTorch 2.9.1 does. Error: what is invalid or not supported; a sentence without a full stop.
tl::expected<Options, std::string> options_from_conf(std::string_view conf, double memory_fraction = 1);

// The other way round: what differs from the defaults, empty if nothing does. The fraction is no part of it.
std::string conf_from_options(const Options& options);

}  // namespace hbmscope::allocator::pytorch
