// Which addresses of one heap are taken, which are free, and how large the largest free block is, exactly, after every
// event of its life.
//
// A pool of 64 GiB, twenty thousand blocks, a thousand free ones between them, ten million events: each must cost some
// tens of nanoseconds. So every block and every free piece is a boundary tag that knows its neighbours (no search when
// a block is given back), a hash table knows where free pieces begin (no search when a block is taken at the lower end
// of one, which is what most allocators do), and a tree of maxima knows the largest. A block that begins elsewhere, at
// the upper end of a free piece or aligned inside of it, is found in an ordered index, which is made when the first
// such block comes, costs the events after it some more, and goes again when it has not been needed for a while.
//
// Regions are what the source took from below: a PyTorch segment, an XLA region. Blocks belong into regions. What
// arrives otherwise (outside of all regions, over another block, of a size that can't be) is kept as a loose block:
// live, counted in what is in use, and taking no address from anybody; problems() says how many came that way and why.
//
// An AddressSpace is a few vectors of plain data: to copy it is some memcpys, to clear it keeps the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "analysis/heap/address_table.h"
#include "analysis/heap/largest_of_many.h"
#include "analysis/heap/ordered_addresses.h"
#include "analysis/model/address_range.h"

namespace hbmscope {

// A live block of one AddressSpace, until it is given back; numbers are then used again, so they stay below the largest
// number of blocks and free pieces that ever were at a time. What else is known of a block lies with the caller, in
// columns by this number.
enum class BlockIndex : std::uint32_t { none = 0xffffffff };

// May blocks and free space reach over the border to an adjacent region? In the pages that a PyTorch expandable segment
// maps they may; two cudaMallocs stay apart even where their addresses touch.
enum class Joining : std::uint8_t { never, with_neighbours };

// Whether the source reports the regions of this heap. If not, all blocks are loose and the free memory is unknown.
enum class RegionsAre : std::uint8_t { told, unknown };

// What was not as it should be; counts of events, except where it says blocks.
struct AddressProblems {
  std::uint64_t overlaps = 0;          // Taken over a live block of a region.
  std::uint64_t outside = 0;           // Taken where, at least in part, no region is.
  std::uint64_t zero_sizes = 0;        // Taken with a size of 0.
  std::uint64_t impossible_sizes = 0;  // Taken beyond 2^64, or in all 2^63 bytes and more; live, with 0 bytes.
  std::uint64_t unknown_blocks = 0;    // Given back though not live.
  std::uint64_t region_overlaps = 0;   // Added over another region; what was new of it is a region.
  std::uint64_t region_missing = 0;    // Removed where, at least in part, no region is.
  std::uint64_t region_sizes = 0;      // Regions without a byte, or of 2^63 bytes and more in all; left out.
  std::uint64_t blocks_removed = 0;    // Live blocks that lost their region, or a part of it, and are now loose.

  std::uint64_t total() const {
    return overlaps + outside + zero_sizes + impossible_sizes + unknown_blocks + region_overlaps + region_missing +
           region_sizes + blocks_removed;
  }
  friend bool operator==(const AddressProblems&, const AddressProblems&) = default;
};

enum class ChunkState : std::uint8_t { free, block };

// A piece of a region. A heap's regions are chunks from end to end.
struct HeapChunk {
  AddressRange range;
  ChunkState state = ChunkState::free;
  BlockIndex block = BlockIndex::none;  // none for a free chunk.
};

class AddressSpace {
 public:
  // All bytes of regions together are fewer, all bytes in use too, so that sums and differences fit 64 bits with a
  // sign.
  static constexpr std::uint64_t bytes_max = 0x7fffffffffffffff;

  explicit AddressSpace(RegionsAre regions = RegionsAre::told) : knows_regions_(regions == RegionsAre::told) {}
  // Empty, and the memory is kept for the next use.
  void clear(RegionsAre regions);

  // Makes a heap of unknown regions one of known regions. Takes as long as there are regions that it overlaps.
  void add_region(AddressRange range, Joining joining);
  // Any part of any regions. Blocks that lie in it, even in part, become loose; what such a block had in regions that
  // stay is free.
  void remove_region(AddressRange range);

  BlockIndex take(std::uint64_t address, std::uint64_t size);
  // Loose whatever is there: for a space that is built anew from a list of what another one held.
  BlockIndex take_loose(std::uint64_t address, std::uint64_t size);
  void give_back(BlockIndex block);

  bool knows_regions() const { return knows_regions_; }         // Else those that are optional are absent.
  std::uint64_t in_use_bytes() const { return in_use_bytes_; }  // Loose blocks too.
  std::size_t blocks() const { return blocks_; }
  // The size of the pool. Not the sum of in use and free where there are loose blocks.
  std::optional<std::uint64_t> region_bytes() const { return if_known(region_bytes_); }
  std::optional<std::uint64_t> free_bytes() const { return if_known(free_bytes_); }
  std::optional<std::uint64_t> largest_free() const { return if_known(sizes_.largest()); }  // 0 where nothing is free.
  std::size_t free_chunks() const { return sizes_.count(); }
  std::size_t regions() const { return regions_.size(); }  // Adjacent ones that join are one.
  const AddressProblems& problems() const { return problems_; }
  // For a space that was built anew from a list of what another one held.
  void set_problems(const AddressProblems& problems) { problems_ = problems; }

  // Brings what give_back will look at into the cache; for callers that know some events ahead which block is next.
  // Inlined by force: a function that only prefetches has no effect to GCC 12, which drops calls of it.
  [[gnu::always_inline]] void prefetch(BlockIndex block) const {
    if (static_cast<std::size_t>(block) < tags_.size()) __builtin_prefetch(&tags_[static_cast<std::size_t>(block)]);
  }
  [[gnu::always_inline]] void prefetch_neighbours(BlockIndex block) const {
    if (static_cast<std::size_t>(block) >= tags_.size()) return;
    const Tag& tag = tags_[static_cast<std::size_t>(block)];
    if (tag.kind != Kind::block) return;
    __builtin_prefetch(&tags_[tag.previous]);
    __builtin_prefetch(&tags_[tag.next]);
  }

  bool is_live(BlockIndex block) const;
  bool is_loose(BlockIndex block) const;  // The block must be live, here and below.
  // Without a byte where the size was 0 or impossible.
  AddressRange range_of(BlockIndex block) const { return range_of_tag(static_cast<TagIndex>(block)); }
  std::size_t block_index_bound() const { return tags_.size(); }  // Above every BlockIndex; grows while blocks come.

  // By address, unless it is outside of all regions. Where a free chunk begins at it the table of these answers; else a
  // walk from both ends of its region, or from the free chunks next to it where the ordered index exists.
  std::optional<HeapChunk> find(std::uint64_t address) const;
  std::vector<BlockIndex> loose_blocks() const;  // Sorted by address, after a walk over all.

  // In the order of addresses: visit(range), or visit(range, joining).
  template <class Visit>
  void for_each_region(const Visit& visit) const {
    regions_.for_each([&](const OrderedAddresses::Entry& entry) {
      if constexpr (std::is_invocable_v<Visit, AddressRange, Joining>)
        visit(range_of_tag(entry.value), tags_[entry.value].joining);
      else
        visit(range_of_tag(entry.value));
    });
  }
  template <class Visit>
  void for_each_chunk(const Visit& visit) const {
    regions_.for_each([&](const OrderedAddresses::Entry& entry) {
      for (std::uint32_t tag = tags_[entry.value].next; tag != entry.value; tag = tags_[tag].next) visit(chunk(tag));
    });
  }

 private:
  friend class AddressSpaceBuilder;

  // The chunks of a region are a ring, in the order of addresses without a gap, closed by a tag for the region itself.
  // It is not free, so that nothing ever merges with it: that is how free space stays within its region.
  enum class Kind : std::uint8_t { unused, region, free, block, loose };
  struct Tag {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t previous = 0, next = 0;  // Of a region: its last and first chunk. Unused tags are chained by next.
    std::uint32_t place = 0;               // Of a free chunk: in sizes_.
    Kind kind = Kind::unused;
    Joining joining = Joining::never;  // Of a region.
  };
  using TagIndex = std::uint32_t;
  static constexpr TagIndex no_tag = 0xffffffff;

  AddressRange range_of_tag(TagIndex tag) const { return {tags_[tag].begin, tags_[tag].end}; }
  HeapChunk chunk(TagIndex tag) const;
  std::optional<std::uint64_t> if_known(std::uint64_t bytes) const {
    return knows_regions_ ? std::optional(bytes) : std::nullopt;
  }

  TagIndex new_tag(AddressRange range, Kind kind);  // Links and place are the caller's to set.
  void recycle(TagIndex tag);
  void link_after(TagIndex before, TagIndex tag);

  TagIndex take_from_begin(TagIndex free, AddressTable::Slot start, std::uint64_t size);
  TagIndex take_inside(TagIndex free, AddressRange block_range);
  BlockIndex take_elsewhere(std::uint64_t address, std::uint64_t size);
  BlockIndex take_impossible(std::uint64_t address, std::uint64_t size);
  // A taken tag becomes free and one with its free neighbours. Does not touch what is in use.
  void release(TagIndex tag);

  TagIndex find_free(std::uint64_t address);
  TagIndex find_region_above(std::uint64_t address) const;
  TagIndex chunk_at(TagIndex region, std::uint64_t address) const;

  void add_new_region(AddressRange range, Joining joining);
  void cut_region(TagIndex region, AddressRange cut);
  TagIndex empty_chunk(TagIndex tag, AddressRange cut);
  TagIndex replace_block(TagIndex tag);

  void build_ends();
  void tend_ends();

  std::vector<Tag> tags_;
  TagIndex unused_ = no_tag;
  AddressTable starts_;       // Of free chunks.
  LargestOfMany sizes_;       // Of free chunks.
  OrderedAddresses regions_;  // By their ends: the first above an address contains it, if any does.
  // Of free chunks, by their ends, which stay where they are when a block is taken at the lower end. Built when needed.
  OrderedAddresses ends_;
  bool has_ends_ = false;
  std::size_t since_ends_were_needed_ = 0;

  bool knows_regions_;
  std::size_t blocks_ = 0;
  std::uint64_t in_use_bytes_ = 0, region_bytes_ = 0, free_bytes_ = 0;
  AddressProblems problems_;
};

}  // namespace hbmscope
