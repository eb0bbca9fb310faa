// Which addresses of one heap are allocated, which are free, and the exact size of the largest free block after every
// event.
//
// Example: a pool of 64 GiB, twenty thousand blocks, a thousand free ones between them, ten million events. Each event
// must take some tens of nanoseconds. So every block and free block is a boundary tag that knows its neighbours:
// freeing a block needs no search. A hash table finds the free block that begins at an address: allocating at the lower
// end of a free block, as most allocators do, needs no search either. A tree of maxima yields the largest free block. A
// block that begins elsewhere, at the upper end of a free block or aligned inside it, is found in an ordered index. The
// first such block builds this index. Later events then cost more, so it is dropped again when it has not been needed
// for a while.
//
// Regions are what the allocator took from the layer below: a PyTorch segment, an XLA region. Blocks belong in regions.
// A block that does not fit (outside of all regions, over another block, of an impossible size) is kept as a loose
// block: live and counted in `in_use_bytes`, but it occupies no addresses. problems() counts these cases by reason.
//
// An AddressSpace is a few vectors of plain data. Copying it is a few memcpys; clear() keeps the memory.
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

// A live block of one AddressSpace, valid until the block is freed. Indices are reused, so they stay below the largest
// number of blocks and free blocks that existed at any one time. The caller keeps further facts about a block in
// columns that this index addresses.
enum class BlockIndex : std::uint32_t { none = 0xffffffff };

// May blocks and free space extend into an adjacent region? In the pages that a PyTorch expandable segment maps they
// may. Two cudaMallocs stay separate even if their addresses touch.
enum class Joining : std::uint8_t { never, with_neighbours };

// Whether the source reports this heap's regions. If not, all blocks are loose and the free memory is unknown.
enum class RegionsAre : std::uint8_t { reported, unknown };

// What was irregular. Counts events unless the comment says blocks.
struct AddressProblems {
  std::uint64_t overlaps = 0;          // Allocated over a live block of a region.
  std::uint64_t outside = 0;           // Allocated at least partly outside of all regions.
  std::uint64_t zero_sizes = 0;        // Allocated with a size of 0.
  std::uint64_t impossible_sizes = 0;  // Allocated beyond 2^64, or 2^63 bytes or more in total; live, with 0 bytes.
  std::uint64_t unknown_blocks = 0;    // Freed though not live.
  std::uint64_t region_overlaps = 0;   // Added over another region; only the new part became a region.
  std::uint64_t region_missing = 0;    // Removed at least partly outside of all regions.
  std::uint64_t region_sizes = 0;      // Empty regions, or 2^63 bytes or more in total; left out.
  std::uint64_t blocks_removed = 0;    // Live blocks that lost all or part of their region and are now loose.

  std::uint64_t total() const {
    return overlaps + outside + zero_sizes + impossible_sizes + unknown_blocks + region_overlaps + region_missing +
           region_sizes + blocks_removed;
  }
  friend bool operator==(const AddressProblems&, const AddressProblems&) = default;
};

enum class ChunkState : std::uint8_t { free, block };

// A part of a region. Chunks cover each region without gaps.
struct HeapChunk {
  AddressRange range;
  ChunkState state = ChunkState::free;
  BlockIndex block = BlockIndex::none;  // none for a free chunk.
};

class AddressSpace {
 public:
  // The upper bound of all region bytes, and of all bytes in use, so that sums and differences fit a signed 64-bit
  // number.
  static constexpr std::uint64_t bytes_max = 0x7fffffffffffffff;

  explicit AddressSpace(RegionsAre regions = RegionsAre::reported) : knows_regions_(regions == RegionsAre::reported) {}
  // Makes the space empty but keeps its memory for reuse.
  void clear(RegionsAre regions);

  // Also makes a heap with unknown regions one with known regions. Takes time proportional to the regions that it
  // overlaps.
  void add_region(AddressRange range, Joining joining);
  // Accepts any part of any regions. Blocks that overlap the range become loose; the parts of them that lie in
  // remaining regions become free.
  void remove_region(AddressRange range);

  // All blocks become loose and the free memory unknown, as if no region had ever been reported.
  void forget_regions();

  BlockIndex take(std::uint64_t address, std::uint64_t size);
  // Loose even where a region has room; for rebuilding a space from a list of another one's blocks.
  BlockIndex take_loose(std::uint64_t address, std::uint64_t size);
  void give_back(BlockIndex block);

  bool knows_regions() const { return knows_regions_; }         // If false, the optional results are absent.
  std::uint64_t in_use_bytes() const { return in_use_bytes_; }  // Includes loose blocks.
  std::size_t blocks() const { return blocks_; }
  // The size of the pool. Differs from in use + free if there are loose blocks.
  std::optional<std::uint64_t> region_bytes() const { return if_known(region_bytes_); }
  std::optional<std::uint64_t> free_bytes() const { return if_known(free_bytes_); }
  std::optional<std::uint64_t> largest_free() const { return if_known(sizes_.largest()); }  // 0 if nothing is free.
  std::size_t free_chunks() const { return sizes_.count(); }
  std::size_t regions() const { return regions_.size(); }  // Adjacent regions that join count as one.
  const AddressProblems& problems() const { return problems_; }
  // For a space that was rebuilt from a list of another one's blocks.
  void set_problems(const AddressProblems& problems) { problems_ = problems; }

  // Prefetches what give_back will read; for callers that know the next blocks a few events ahead. Always inlined: GCC
  // 12 considers a function that only prefetches free of effects and drops calls to it.
  [[gnu::always_inline]] void prefetch(BlockIndex block) const {
    if (static_cast<std::size_t>(block) < tags_.size()) __builtin_prefetch(&tags_[static_cast<std::size_t>(block)]);
  }
  [[gnu::always_inline]] void prefetch_neighbours(BlockIndex block) const {
    if (static_cast<std::size_t>(block) >= tags_.size()) return;
    const Tag& tag = tags_[static_cast<std::size_t>(block)];
    if (tag.kind != Kind::block) return;
    __builtin_prefetch(&tags_[tag.previous]);
    __builtin_prefetch(&tags_[tag.next]);
    starts_.prefetch(tag.begin);
    starts_.prefetch(tag.end);
  }
  // The same for take, in two steps, the second of which reads what the first has fetched.
  [[gnu::always_inline]] void prefetch_take(std::uint64_t address, std::uint64_t size) const {
    starts_.prefetch(address);
    starts_.prefetch(address + size);
  }
  [[gnu::always_inline]] void prefetch_taken(std::uint64_t address) const {
    if (const TagIndex free = starts_.value(starts_.find(address)); free < tags_.size())
      __builtin_prefetch(&tags_[free]);
  }

  bool is_live(BlockIndex block) const;
  bool is_loose(BlockIndex block) const;  // Requires a live block, as does the next function.
  // Empty if the size was 0 or impossible.
  AddressRange range_of(BlockIndex block) const { return range_of_tag(static_cast<TagIndex>(block)); }
  std::size_t block_index_bound() const { return tags_.size(); }  // Above every BlockIndex; grows as blocks arrive.

  // The chunk at an address, unless it is outside of all regions. If a free chunk begins there, the hash table has it.
  // Otherwise this walks from both ends of the region, or from the nearest free chunks if the ordered index exists.
  std::optional<HeapChunk> find(std::uint64_t address) const;
  std::vector<BlockIndex> loose_blocks() const;  // Sorted by address; walks all blocks.

  // In address order: visit(range), or visit(range, joining).
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

  // The chunks of a region form a ring in address order without gaps, closed by a tag for the region itself. That tag
  // is not free, so nothing merges with it: free space stays within its region.
  enum class Kind : std::uint8_t { unused, region, free, block, loose };
  struct Tag {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t previous = 0, next = 0;  // Region: its last and first chunk. Unused tags are chained by next.
    std::uint32_t place = 0;               // Free chunk: its place in sizes_.
    Kind kind = Kind::unused;
    Joining joining = Joining::never;  // Region only.
  };
  using TagIndex = std::uint32_t;
  static constexpr TagIndex no_tag = 0xffffffff;

  AddressRange range_of_tag(TagIndex tag) const { return {tags_[tag].begin, tags_[tag].end}; }
  HeapChunk chunk(TagIndex tag) const;
  std::optional<std::uint64_t> if_known(std::uint64_t bytes) const {
    return knows_regions_ ? std::optional(bytes) : std::nullopt;
  }

  TagIndex new_tag(AddressRange range, Kind kind);  // The caller sets links and place.
  void recycle(TagIndex tag);
  void link_after(TagIndex before, TagIndex tag);

  TagIndex take_from_begin(TagIndex free, AddressTable::Slot start, std::uint64_t size);
  TagIndex take_inside(TagIndex free, AddressRange block_range);
  BlockIndex take_elsewhere(std::uint64_t address, std::uint64_t size);
  BlockIndex take_impossible(std::uint64_t address, std::uint64_t size);
  // Frees a taken tag and merges it with its free neighbours. Does not change in_use_bytes_.
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
  AddressTable starts_;       // Start addresses of free chunks.
  LargestOfMany sizes_;       // Sizes of free chunks.
  OrderedAddresses regions_;  // By end address: the first region above an address contains it, if any does.
  // Free chunks by end address, which does not change when a block is taken at the lower end. Built on demand.
  OrderedAddresses ends_;
  bool has_ends_ = false;
  std::size_t since_ends_were_needed_ = 0;

  bool knows_regions_;
  std::size_t blocks_ = 0;
  std::uint64_t in_use_bytes_ = 0, region_bytes_ = 0, free_bytes_ = 0;
  AddressProblems problems_;
};

}  // namespace hbmscope
