// What is asked of the allocator and what it answers.
#pragma once

#include <cstdint>
#include <string_view>

namespace hbmscope::allocator::xla_gpu {

// Where a buffer lives: XLA's memory spaces (colours) 0 and 1. Without two ends both are served alike.
enum class Space : std::uint8_t { default_memory, collective };

struct Request {
  std::uint64_t bytes = 0;
  Space space = Space::default_memory;
  std::uint64_t alignment = 1;  // A power of two; below 256 it is 256.
};

enum class Outcome : std::uint8_t { allocated, zero_bytes, out_of_memory, fault };

// Where the original does not answer: the process aborts or hangs. Here it is a value, and the answer to all that is
// asked of this allocator afterwards.
enum class Fault : std::uint8_t {
  none,
  second_gap,         // spatial: "spatial partitioning expects one central gap" (abort).
  endless_backpedal,  // The driver is full and at most 2,304 bytes are asked: 0.9 of it is rounded up again (hang).
  endless_growth,     // The next region's size was doubled until it wrapped around to 0 (hang).
  bad_region,         // The upstream gave a base or a size that is no multiple of 256 B (abort).
  bad_alignment,      // No power of two (abort).
};
std::string_view text_from_fault(Fault fault);  // A sentence without a full stop; empty for none.

struct Allocation {
  Outcome outcome = Outcome::out_of_memory;
  Fault fault = Fault::none;
  std::uint32_t region = 0;         // Its number: regions are counted from 0 as they are claimed.
  std::uint64_t address = 0;        // Of allocated only, as what follows.
  std::uint64_t bytes = 0;          // What the chunk takes: the request rounded up, and what was not split off.
  std::uint64_t allocation_id = 0;  // 1, 2, 3, ...
};

enum class FreeOutcome : std::uint8_t { freed, unknown_address, fault };

// XLA's AllocatorStats, as the allocator fills it. What BFC never sets (reserved bytes) is not here.
struct Statistics {
  std::uint64_t allocations = 0;   // num_allocs
  std::uint64_t in_use_bytes = 0;  // Of chunks, rounding included.
  std::uint64_t peak_in_use_bytes = 0;
  std::uint64_t largest_allocation_bytes = 0;  // Of a chunk.
  std::uint64_t limit_bytes = 0;
  std::uint64_t pool_bytes = 0;  // All regions.
  std::uint64_t peak_pool_bytes = 0;
  std::uint64_t largest_free_bytes = 0;  // The gap included.
};

// External fragmentation as XLA computes it, of what is free in the pool; NaN where nothing is.
double fragmentation_of(const Statistics& statistics);

}  // namespace hbmscope::allocator::xla_gpu
