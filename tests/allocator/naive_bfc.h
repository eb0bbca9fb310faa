// The rules of XLA's BFC allocator, written as plainly as possible: a sorted map of chunks, and a look at all of them
// for each request. Shares no code with allocator/reference/xla_gpu except the types of requests and answers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "allocator/reference/interface/upstream.h"
#include "allocator/reference/xla_gpu/bfc.h"

namespace hbmscope::allocator {

class NaiveBfc {
 public:
  enum class Owner : std::uint8_t { lower, upper, nobody };
  struct PoolBlock {
    std::uint64_t bytes = 0;
    std::uint32_t region = 0;
    bool in_use = false;
    Owner owner = Owner::lower;

    friend bool operator==(const PoolBlock&, const PoolBlock&) = default;
  };

  NaiveBfc(Upstream& upstream, const xla_gpu::Options& options);

  Allocation allocate(const Request& request);
  FreeOutcome free(std::uint64_t address);
  Statistics statistics() const;
  const std::map<std::uint64_t, PoolBlock>& pool_blocks() const { return pieces_; }

 private:
  using Place = std::map<std::uint64_t, PoolBlock>::iterator;
  struct Area {
    std::uint32_t number;
    Claim claim;
  };

  bool is(xla_gpu::Version version) const { return version_ == version; }
  bool has_ends() const { return version_ >= xla_gpu::Version::spatial_v1; }
  bool counts_needed() const { return options_.lifted.kept && !options_.allow_growth; }
  void count_needed();
  std::uint64_t threshold() const;
  bool leaves_whole(std::uint64_t piece_bytes, std::uint64_t bytes) const;
  std::optional<std::uint64_t> start_in(Place place, std::uint64_t bytes, std::uint64_t alignment, Owner end) const;
  std::optional<Place> find(std::uint64_t bytes, std::uint64_t alignment, Owner end) const;
  std::optional<Allocation> serve(std::uint64_t bytes, std::uint64_t alignment, const Request& request);
  bool grow(std::uint64_t bytes);
  bool collect(std::uint64_t bytes);
  bool is_used(const Area& area) const;
  void release(const Area& area);
  Place cut(Place place, std::uint64_t at);
  bool is_same_region(Place a, Place b) const { return a->second.region == b->second.region; }
  Allocation refusal() const;
  void check_gaps();

  Upstream& upstream_;
  xla_gpu::Options options_;
  xla_gpu::Version version_;
  std::uint64_t next_bytes_;
  std::map<std::uint64_t, PoolBlock> pieces_;  // By address.
  std::vector<Area> areas_;
  std::uint32_t claims_ = 0;
  Statistics statistics_;
  std::uint64_t ids_ = 0;
  Fault fault_ = Fault::none;
};

}  // namespace hbmscope::allocator
