// What every allocator here is: it takes regions from an upstream, serves requests out of them, says what it did, and
// how sure it is that the original would have done the same. Not safe to be called from two threads at once; the C
// interface (allocator/c_api) takes a lock, as the originals do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "allocator/upstream/upstream.h"

namespace hbmscope::allocator {

// How sure it is that the answers are those of the original.
enum class Certainty : std::uint8_t {
  exact,          // Equals the original's answers, operation by operation.
  checked,        // Reproduces traces that the original left behind.
  reconstructed,  // Equals a reconstruction of the original.
  unverified,     // Written from a description; nothing was run.
  approximate,    // The outlines of the original only: its inside is not public.
};
std::string_view text_from_certainty(Certainty certainty);  // "exact", "checked", ...

// Where a buffer lives: XLA's memory spaces (colours) 0 and 1. Without two ends both are served alike.
enum class Space : std::uint8_t { default_memory, collective };

struct Request {
  std::uint64_t bytes = 0;
  Space space = Space::default_memory;
  std::uint32_t stream = 0;     // Of the device, as a small number: PyTorch keeps what is free apart by it.
  std::uint64_t alignment = 1;  // A power of two; below what the allocator gives anyway it says nothing.
};

// Requests above this would wrap around in the arithmetic of sizes; no device has so much. They are out of memory.
inline constexpr std::uint64_t request_bytes_max = (std::uint64_t{1} << 63) - 1;

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
  bool is_at_upper_end = false;     // Of a pool with two ends.
  std::uint32_t region = 0;         // Its number: regions are counted from 0 as they are claimed.
  std::uint64_t address = 0;        // Of allocated only, as what follows.
  std::uint64_t bytes = 0;          // What the block takes: the request rounded up, and what was not split off.
  std::uint64_t allocation_id = 0;  // 1, 2, 3, ...
};

enum class FreeOutcome : std::uint8_t { freed, unknown_address, fault };

inline constexpr std::uint64_t no_limit = ~std::uint64_t{0};

// XLA's AllocatorStats, as BFC fills it; the other allocators keep the same sums. What BFC never sets (reserved bytes)
// is not here.
struct Statistics {
  std::uint64_t allocations = 0;   // num_allocs
  std::uint64_t in_use_bytes = 0;  // Of blocks, rounding included.
  std::uint64_t peak_in_use_bytes = 0;
  std::uint64_t largest_allocation_bytes = 0;  // Of a block.
  std::uint64_t limit_bytes = no_limit;
  std::uint64_t pool_bytes = 0;  // All regions.
  std::uint64_t peak_pool_bytes = 0;
  std::uint64_t largest_free_bytes = 0;  // The gap included.

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

// External fragmentation of the pool, as XLA reports it: NaN where nothing is free.
double fragmentation_of(const Statistics& statistics);

// A block, or a free piece between blocks.
struct Piece {
  std::uint64_t address = 0, bytes = 0;
  std::uint64_t requested_bytes = 0;  // 0: free.
  bool in_use = false;
};

// What happens, as it happens. By default nobody is told.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void on_region_claimed(std::uint32_t number, const Claim& claim, std::uint64_t asked_bytes) = 0;
  virtual void on_claim_refused(std::uint64_t asked_bytes) = 0;
  virtual void on_region_released(std::uint32_t number, const Claim& claim) = 0;
};

class Allocator {
 public:
  explicit Allocator(Upstream& upstream) : upstream_(upstream) {}  // Which must outlive it.
  virtual ~Allocator() = default;                                  // All regions go back.
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  virtual Allocation allocate(const Request& request) = 0;
  virtual FreeOutcome free(std::uint64_t address) = 0;

  virtual Statistics statistics() const = 0;
  // The largest free piece, and of what `space` may take: without alignment, a request of this size, as rounded, fits
  // without growing the pool.
  virtual std::uint64_t largest_free_bytes() const = 0;
  virtual std::uint64_t largest_usable_bytes(Space) const { return largest_free_bytes(); }
  virtual std::uint64_t rounded_bytes(std::uint64_t bytes) const = 0;  // The least that such a request takes.
  virtual std::vector<Claim> claims() const = 0;                       // All regions, in no order.
  virtual std::vector<Piece> pieces() const = 0;                       // All of all regions, by address in each.
  virtual std::size_t chunks() const = 0;                              // As many pieces.

  Fault fault() const { return fault_; }
  void set_sink(Sink* sink) { sink_ = sink; }  // Null: nobody is told. It must outlive the allocator, or be replaced.

 protected:
  Upstream& upstream_;
  Sink* sink_ = nullptr;
  Fault fault_ = Fault::none;
};

}  // namespace hbmscope::allocator
