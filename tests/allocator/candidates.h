// The allocators that every suite here runs, in their main configurations, on a device of 512 MiB.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "allocator/reference/catalog/catalog.h"

namespace hbmscope::allocator {

struct Candidate {
  std::string name;
  AllocatorOptions options;
  std::uint64_t alignment_bytes;  // Of every address that it returns.
};
void PrintTo(const Candidate& candidate, std::ostream* out);
std::vector<Candidate> candidates();

}  // namespace hbmscope::allocator
