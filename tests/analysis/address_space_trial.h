// Compares an AddressSpace with its slow and obvious version. Both process the same events, which are drawn from any
// source of numbers: a seeded generator, or the bytes of a fuzzer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analysis/heap/address_space.h"

namespace hbmscope {

// Stores only regions and blocks; free memory is computed at each query.
class NaiveAddressSpace {
 public:
  using Id = std::uint32_t;
  static constexpr Id no_block = 0xffffffff;

  void add_region(AddressRange range, Joining joining);
  void remove_region(AddressRange range);
  Id take(std::uint64_t address, std::uint64_t size);
  void give_back(Id id);

  struct Region {
    AddressRange range;
    Joining joining;
  };
  struct Chunk {
    AddressRange range;
    Id block;  // no_block: free.
    friend bool operator==(const Chunk&, const Chunk&) = default;
  };
  std::vector<Chunk> chunks() const;
  const std::vector<Region>& regions() const { return regions_; }  // In order; joined regions are one region.
  const std::map<Id, AddressRange>& loose() const { return loose_; }
  std::size_t blocks() const { return placed_.size() + loose_.size(); }
  std::uint64_t in_use_bytes() const { return in_use_bytes_; }
  AddressRange range_of(Id id) const;

  AddressProblems problems;

 private:
  struct Placed {
    std::uint64_t end;
    Id id;
  };
  bool overlaps_block(AddressRange range) const;

  std::vector<Region> regions_;
  std::map<std::uint64_t, Placed> placed_;  // By first address.
  std::map<Id, AddressRange> loose_;
  std::uint64_t in_use_bytes_ = 0;
  Id next_ = 0;
};

class AddressSpaceTrial {
 public:
  // draw(n): a number below n; n is at least 1.
  using Draw = std::function<std::uint64_t(std::uint64_t)>;

  // The kinds of events in a trial; all by default.
  struct Kinds {
    bool upper_end = true, aligned = true, regions = true, dirty = true;
    std::uint64_t base = 0x7f0000000000;
    std::size_t blocks_max = 20;
  };
  explicit AddressSpaceTrial(Kinds kinds) : kinds_(kinds) {}

  void step(const Draw& draw) {
    change(draw);
    expected_ = naive_.chunks();
  }
  // The first difference between the two, as text; empty if they agree. Comparing figures is quick; comparing the
  // layout of all chunks takes longer.
  std::string difference_of_figures() const;
  std::string difference_of_layout() const;

  const AddressSpace& space() const { return space_; }

 private:
  void change(const Draw& draw);
  void take(std::uint64_t address, std::uint64_t size);
  void take_in_gap(const Draw& draw);
  void give_back(const Draw& draw);
  void change_regions(const Draw& draw);
  void do_something_dirty(const Draw& draw);
  AddressRange draw_range(const Draw& draw, std::uint64_t size_max) const;

  struct Live {
    BlockIndex block;
    NaiveAddressSpace::Id id;
  };
  Kinds kinds_;
  AddressSpace space_;
  NaiveAddressSpace naive_;
  std::vector<NaiveAddressSpace::Chunk> expected_;  // After the last step.
  std::vector<Live> live_;
};

}  // namespace hbmscope
