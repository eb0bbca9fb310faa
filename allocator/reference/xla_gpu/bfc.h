// JAX's allocator on GPUs: XLA's best-fit with coalescing, decision by decision.
//
// A pool of 60 GiB, a request of 30 MB: the request is rounded up to a multiple of 256 B. The smallest free chunk that
// fits serves it; of equal ones, the lowest. The remainder is split off if it is at least as large as the request, or
// at least 128 MiB; otherwise it stays with the block. A freed chunk joins its free neighbours at once. A pool is one
// region, claimed at the first request (preallocation), or several, each twice as large as the one before. With two
// ends (spatial versions), default memory grows from one end of the region and collective memory from the other; the
// gap between them belongs to neither.
//
// Rules and sources: allocator/README.md. The allocator takes some 100 bytes of memory per chunk and none per byte of
// the pool. An operation takes some tens of nanoseconds, and at worst logarithmic time in the number of free chunks of
// one size. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "allocator/reference/interface/allocator.h"
#include "allocator/reference/interface/lifted_rules.h"
#include "allocator/reference/xla_gpu/block_table.h"
#include "allocator/reference/xla_gpu/chunk_pool.h"
#include "allocator/reference/xla_gpu/free_chunks.h"
#include "allocator/reference/xla_gpu/sizes.h"
#include "allocator/reference/xla_gpu/version.h"

namespace hbmscope::allocator::xla_gpu {

// Which of JAX's pools it is. Affects only its name and the kind of memory in it, not its decisions.
enum class Pool : std::uint8_t { default_memory, collective, pinned_host };

struct Options {
  Pool pool = Pool::default_memory;
  Version version = newest_version;
  std::uint64_t limit_bytes = 0;
  bool allow_growth = false;          // False: the whole limit is claimed as one region at the first request.
  bool garbage_collection = false;    // Releases regions without a block before a request fails. JAX never sets it.
  double fragmentation_fraction = 0;  // Split threshold as a fraction of the limit. At 0 it is 128 MiB, JAX's default.
  bool hangs_on_small_refusal = false;  // The behaviour before 2026-08-14 (PR 47082): Fault::endless_backpedal.
  LiftedRules lifted;
};

// Null: valid. Otherwise why not; a sentence without a full stop.
const char* find_fault_of(const Options& options);

struct Region {
  std::uint32_t number;
  Claim claim;
  ChunkIndex first;
  std::uint64_t end() const { return claim.base + claim.bytes; }
};

// Totals of a bin's chunks, by size; free and in use. The gap is in no bin.
struct BinTotals {
  std::uint64_t bytes_in_use = 0, bytes = 0, requested_bytes_in_use = 0;
  std::uint64_t chunks_in_use = 0, chunks = 0;
};

class Bfc final : public Allocator {
 public:
  // Options must be valid (find_fault_of).
  Bfc(Upstream& upstream, const Options& options);
  ~Bfc() override;

  Allocation allocate(const Request& request) override;
  FreeOutcome free(std::uint64_t address) override;

  const Options& options() const { return options_; }
  const VersionRules& rules() const { return rules_; }
  Statistics statistics() const override;
  std::uint64_t largest_free_bytes() const override;
  std::uint64_t largest_usable_bytes(Space space) const override;
  std::uint64_t rounded_bytes(std::uint64_t bytes) const override {
    return options_.lifted.rounding ? bytes : xla_gpu::rounded_bytes(bytes);
  }
  std::vector<Claim> claims() const override;
  std::vector<PoolBlock> pool_blocks() const override;
  std::uint64_t largest_hole_bytes(Tag end) const { return free_of(end).largest_bytes(pool_); }  // Without the gap.
  std::uint64_t next_region_bytes() const { return next_region_bytes_; }

  // By ascending end address.
  const std::vector<Region>& regions() const { return regions_; }
  const Chunk& chunk(ChunkIndex chunk) const { return pool_[chunk]; }
  ChunkIndex gap() const { return gap_; }  // no_chunk: no gap.
  std::size_t chunks() const override { return pool_.used(); }
  ChunkIndex find_block(std::uint64_t address) const { return blocks_.find(address); }
  // -1: in no bin, like blocks and the gap.
  int bin_number_of(ChunkIndex chunk) const;
  // The free chunks of a bin, in the order in which they are tried.
  std::vector<ChunkIndex> free_chunks_of_bin(unsigned bin) const;
  std::array<BinTotals, bin_count> bin_totals() const;
  // visit(ChunkIndex, const Chunk&): regions in their order, chunks by address.
  template <class Visit>
  void for_each_chunk(const Visit& visit) const {
    for (const Region& region : regions_)
      for (ChunkIndex at = region.first; at != no_chunk; at = pool_[at].next) visit(at, pool_[at]);
  }

 private:
  // bfc.cpp
  const SpacePolicy& policy_of(Space space) const;
  FreeChunks& free_of(Tag tag) { return free_[tag == Tag::upper ? 1 : 0]; }
  const FreeChunks& free_of(Tag tag) const { return free_[tag == Tag::upper ? 1 : 0]; }
  bool fits(const Chunk& chunk, std::uint64_t bytes, std::uint64_t alignment, Tag end) const;
  ChunkIndex find_hole(std::uint64_t bytes, std::uint64_t alignment, const SpacePolicy& policy) const;
  std::optional<Allocation> serve(std::uint64_t bytes, std::uint64_t alignment, const Request& request);
  Allocation finish(ChunkIndex chunk, Tag tag, std::uint64_t requested_bytes);
  void insert_free(ChunkIndex chunk);
  void erase_free(ChunkIndex chunk);
  ChunkIndex coalesce(ChunkIndex chunk);
  void merge(ChunkIndex chunk, ChunkIndex next);
  Allocation fail();

  // bfc_carve.cpp
  bool splits(std::uint64_t chunk_bytes, std::uint64_t bytes) const;
  ChunkIndex split(ChunkIndex chunk, std::uint64_t bytes);
  ChunkIndex carve_lower(ChunkIndex chunk, std::uint64_t bytes, std::uint64_t alignment, bool exactly);
  ChunkIndex carve_upper(ChunkIndex chunk, std::uint64_t bytes, std::uint64_t alignment, bool exactly);

  // bfc_regions.cpp
  bool extend(std::uint64_t bytes);
  bool claim_or_backpedal(std::uint64_t requested_bytes, std::uint64_t least_bytes);
  void add_region(const Claim& claim, std::uint64_t requested_bytes);
  bool release_free_regions(std::uint64_t bytes);
  void release(const Region& region);
  void keep_nothing(ChunkIndex freed);
  bool counts_needed() const { return options_.lifted.kept && !options_.allow_growth; }
  void count_needed();
  bool is_free(const Region& region) const;
  void drop_chunks(const Region& region);

  const Options options_;
  const VersionRules& rules_;
  std::uint64_t internal_fragmentation_max_;
  std::uint64_t next_region_bytes_;

  ChunkPool pool_;
  BlockTable blocks_;
  std::array<FreeChunks, 2> free_;  // The lower end's (or the whole pool's), and the upper end's.
  ChunkIndex gap_ = no_chunk;
  ChunkIndex last_ = no_chunk;  // At the upper end of a region; the only one's, if there is only one.
  std::vector<Region> regions_;
  std::uint32_t regions_claimed_ = 0;
  Statistics statistics_;  // Everything except largest_free_bytes.
  std::uint64_t allocation_ids_ = 0;
};

}  // namespace hbmscope::allocator::xla_gpu
