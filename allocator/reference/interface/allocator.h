// The interface of all allocators. An allocator takes regions from an upstream, serves requests from them, reports what
// it did, and states how certain it is that the original would have done the same. Not thread-safe; the C interface
// (allocator/reference/libraries) takes a lock, as the originals do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "allocator/reference/interface/upstream.h"

namespace hbmscope::allocator {

// How certain it is that the answers equal those of the original.
enum class Certainty : std::uint8_t {
  exact,          // Equals the original's answers, operation by operation.
  checked,        // Reproduces traces that the original left behind.
  reconstructed,  // Equals a reconstruction of the original.
  unverified,     // Written from a description; never compared with a run.
  approximate,    // Follows only the outlines of the original, whose internals are not public.
};
std::string_view text_from_certainty(Certainty certainty);  // "exact", "checked", ...

// The memory space of a buffer: XLA's memory spaces (colours) 0 and 1. A pool without two ends treats them alike.
enum class Space : std::uint8_t { default_memory, collective };

struct Request {
  std::uint64_t bytes = 0;
  Space space = Space::default_memory;
  std::uint32_t stream = 0;  // A small number per stream of the device. PyTorch keeps free blocks separate by stream.
  std::uint64_t alignment = 1;  // A power of two. No effect if the allocator aligns to more anyway.
  // PyTorch: the private pool of a graph or a MemPool, as a number. The device's own pool is 0.
  std::uint32_t private_pool = 0;
};

// Larger requests would overflow the arithmetic on sizes. No device has that much memory: they are out of memory.
inline constexpr std::uint64_t request_bytes_max = (std::uint64_t{1} << 63) - 1;

enum class Outcome : std::uint8_t { allocated, zero_bytes, out_of_memory, fault };

// A request at which the original gives no answer, because the process aborts or hangs. Here it is a value. From then
// on, every request to this allocator gets it.
enum class Fault : std::uint8_t {
  none,
  second_gap,  // spatial: "spatial partitioning expects one central gap" (abort).
  // The driver is full, at most 2,304 bytes are requested, and 0.9 of that rounds up to the same size (hang).
  endless_backpedal,
  endless_growth,  // The next region's size was doubled until it wrapped around to 0 (hang).
  bad_region,      // The upstream returned a base or a size that is not a multiple of 256 B (abort).
  bad_alignment,   // Not a power of two (abort).
};
std::string_view text_from_fault(Fault fault);  // A sentence without a full stop. Empty for Fault::none.

struct Allocation {
  Outcome outcome = Outcome::out_of_memory;
  Fault fault = Fault::none;
  bool is_at_upper_end = false;     // In a pool with two ends.
  std::uint32_t region = 0;         // Regions are numbered from 0 in the order in which they are claimed.
  std::uint64_t address = 0;        // Valid only for `allocated`, like the fields below.
  std::uint64_t bytes = 0;          // Size of the block: the rounded request, and the rest if it was not split off.
  std::uint64_t allocation_id = 0;  // 1, 2, 3, ...
};

enum class FreeOutcome : std::uint8_t { freed, unknown_address, fault };

inline constexpr std::uint64_t no_limit = ~std::uint64_t{0};

// XLA's AllocatorStats, as BFC fills it. Other allocators compute the same totals. Fields that BFC never sets (reserved
// bytes) are left out.
struct Statistics {
  std::uint64_t allocations = 0;   // num_allocs
  std::uint64_t in_use_bytes = 0;  // The sizes of blocks, including rounding.
  std::uint64_t peak_in_use_bytes = 0;
  std::uint64_t largest_allocation_bytes = 0;  // The largest block so far.
  std::uint64_t limit_bytes = no_limit;
  std::uint64_t pool_bytes = 0;  // Total of all regions.
  std::uint64_t peak_pool_bytes = 0;
  std::uint64_t largest_free_bytes = 0;  // Including the gap.

  void count_taken(std::uint64_t bytes) {
    ++allocations;
    in_use_bytes += bytes;
    peak_in_use_bytes = std::max(peak_in_use_bytes, in_use_bytes);
    largest_allocation_bytes = std::max(largest_allocation_bytes, bytes);
  }
  void count_claimed(std::uint64_t bytes) {
    pool_bytes += bytes;
    peak_pool_bytes = std::max(peak_pool_bytes, pool_bytes);
  }
};

// External fragmentation of the pool, as XLA reports it; NaN if nothing is free.
double fragmentation_of(const Statistics& statistics);

// A block, in use or free.
struct PoolBlock {
  std::uint64_t address = 0, bytes = 0;
  std::uint64_t requested_bytes = 0;  // 0: free.
  bool in_use = false;
};

// Receives events as they happen. An allocator has no sink by default.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void on_region_claimed(std::uint32_t number, const Claim& claim, std::uint64_t requested_bytes) = 0;
  virtual void on_claim_refused(std::uint64_t requested_bytes) = 0;
  virtual void on_region_released(std::uint32_t number, const Claim& claim) = 0;
};

class Allocator {
 public:
  explicit Allocator(Upstream& upstream) : upstream_(upstream) {}  // The upstream must outlive the allocator.
  virtual ~Allocator() = default;                                  // Releases all regions.
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  virtual Allocation allocate(const Request& request) = 0;
  virtual FreeOutcome free(std::uint64_t address) = 0;

  virtual Statistics statistics() const = 0;
  // The largest free block, in the whole pool or in the part that `space` may use. An unaligned request whose rounded
  // size is at most this fits without growing the pool.
  virtual std::uint64_t largest_free_bytes() const = 0;
  virtual std::uint64_t largest_usable_bytes(Space) const { return largest_free_bytes(); }
  virtual std::uint64_t rounded_bytes(std::uint64_t bytes) const = 0;  // The smallest block that such a request gets.
  virtual std::vector<Claim> claims() const = 0;                       // All regions, in no particular order.
  virtual std::vector<PoolBlock> pool_blocks() const = 0;  // All blocks of all regions, by address within a region.
  virtual std::size_t chunks() const = 0;                  // The number of pool_blocks().

  Fault fault() const { return fault_; }
  void set_sink(Sink* sink) {
    sink_ = sink;
  }  // Null: no notifications. The sink must outlive the allocator or be replaced.

 protected:
  Upstream& upstream_;
  Sink* sink_ = nullptr;
  Fault fault_ = Fault::none;
};

}  // namespace hbmscope::allocator
