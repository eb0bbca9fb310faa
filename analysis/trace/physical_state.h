// What a process owns of its devices' memory through handles (CUDA's virtual memory management: cuMemCreate, cuMemMap).
//
// A handle owns bytes from its creation until it is released and no address shows it any more; mapping is not taking:
// a handle of 2 MiB under two addresses is 2 MiB of the device. A handle that came from another process is counted
// there. Addresses may be reserved with no memory under them.
//
// Rules of the source (CUDA driver API, cuMemRelease, cuMemUnmap): a handle may be released while it is mapped; every
// import is paired with a release of its own; an unmap takes away whole mappings, one or several that touch. What does
// not keep to them is applied as far as it makes sense, and counted.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/trace/range_table.h"
#include "collector/wire/block_decoder.h"

namespace hbmscope {

// Of one heap, or the sum of several. Bytes are the device's, except where they are of addresses.
struct PhysicalBytes {
  std::uint64_t owned_bytes = 0;     // Of handles made here that live.
  std::uint64_t unmapped_bytes = 0;  // Of owned_bytes: taken, and under no address at all.
  std::uint64_t exported_bytes = 0;  // Of owned_bytes: given to another process too, which may keep them longer.
  std::uint64_t imported_bytes = 0;  // Of handles from another process, where they are counted.
  std::uint64_t mapped_bytes = 0;    // Addresses with memory under them: a handle mapped twice is in it twice.
  std::uint64_t reserved_bytes = 0;  // Addresses set aside, mapped or not.
  std::uint64_t handles = 0;         // That live, imported ones too.
  bool is_inexact = false;           // Events were lost. Handles are in no listing: it stays so.

  // Nothing but a loss is no handle: what was lost then is the heap's own matter.
  bool has_any() const {
    return (owned_bytes | unmapped_bytes | exported_bytes | imported_bytes | mapped_bytes | reserved_bytes | handles) !=
           0;
  }

  friend bool operator==(const PhysicalBytes&, const PhysicalBytes&) = default;
};

// What was not as the source's own rules have it.
struct PhysicalProblems {
  std::uint64_t unknown_releases = 0;  // Releases, exports of a handle that is not there: released twice, or older.
  std::uint64_t missed_releases = 0;   // A number was given out again; the handle that had it is taken as released.
  std::uint64_t unknown_handles = 0;   // Mappings of a handle that is not there; their addresses count as mapped.
  std::uint64_t beyond_handle = 0;     // Mappings that reach behind the end of their handle.
  std::uint64_t missed_unmaps = 0;     // Mappings over others, which are taken as unmapped there.
  std::uint64_t unknown_unmaps = 0;    // Unmaps that reach over addresses where nothing was mapped.
  std::uint64_t partial_unmaps = 0;    // Unmaps of a part of a mapping; the rest stays.
  std::uint64_t bad_reservations = 0;  // Over others, or given back where nothing was reserved.
  std::uint64_t impossible_sizes = 0;  // No bytes, or more than any device; left out.
  std::uint64_t undefined_heaps = 0;

  PhysicalProblems& operator+=(const PhysicalProblems& more);
  friend bool operator==(const PhysicalProblems&, const PhysicalProblems&) = default;
};

struct PhysicalHandle {
  std::uint64_t event = 0;   // The allocation id: the number of the event that made it.
  std::uint64_t number = 0;  // The driver's; free to be used again once it is released.
  std::uint64_t size = 0;
  std::uint32_t heap = 0, stack = 0;
  std::uint32_t references = 0;  // Creation and imports that were not released yet. 0: only mappings keep it.
  std::uint32_t mappings = 0;
  bool is_imported = false, is_exported = false;

  bool is_live() const { return references > 0 || mappings > 0; }
};

class PhysicalState {
 public:
  // Applies a record of the kinds 32 to 39; others change nothing. `heap_count`: heaps that are defined, 0 included.
  void apply(wire::RecordKind kind, const wire::DecodedBlock& block, std::size_t row, std::uint64_t event,
             std::size_t heap_count);
  // Applies a row of a keyframe (handle_live, mapping_live, reserve_live), to what clear() has left. No problem is
  // counted again.
  void restore(wire::RecordKind kind, const wire::DecodedBlock& block, std::size_t row, std::size_t heap_count);
  // Nothing is owned, mapped, reserved; only the problems stay.
  void clear();
  // Heaps that own more or less since clear_changed(); one may be in it twice.
  std::span<const std::uint32_t> changed() const { return changed_; }
  // Handles that ended since then: released, and under no address any more. With what they had otherwise.
  std::span<const PhysicalHandle> ended() const { return ended_; }
  void clear_changed() {
    changed_.clear();
    ended_.clear();
  }
  // The heap is gone: its handles, mappings and reservations too.
  void drop_heap(std::uint32_t heap);
  void note_loss(std::uint32_t heap, std::size_t heap_count);  // 0: all heaps.
  // Of a keyframe that had all of it.
  void note_whole(std::uint32_t heap) { sums(heap).is_inexact = false; }

  const PhysicalBytes& heap(std::uint32_t id) const { return id < heaps_.size() ? heaps_[id] : none_; }
  const PhysicalProblems& problems() const { return problems_; }
  // Those that do not live are empty places.
  std::span<const PhysicalHandle> handles() const { return handles_; }

  // A keyframe of it: some ten bytes a handle and a mapping, empty where nothing ever happened. Not for files: it is
  // unpacked as it was packed.
  std::vector<std::uint8_t> pack() const;
  static PhysicalState unpack(std::span<const std::uint8_t> bytes);

 private:
  static constexpr std::uint32_t no_handle = 0xffffffff;
  struct Mapping {
    std::uint32_t handle = no_handle;
    std::uint64_t offset = 0;  // In the handle.
    Mapping after(std::uint64_t bytes) const { return {handle, offset + bytes}; }
  };
  struct Reservation {
    Reservation after(std::uint64_t) const { return {}; }
  };

  bool is_defined(std::uint32_t heap, std::size_t heap_count);
  bool is_possible(std::uint64_t address, std::uint64_t size, std::uint64_t PhysicalBytes::*sum);
  template <class Record>
  void add_handle(const Record& record, std::uint64_t event, std::size_t heap_count, bool is_imported);
  void release(std::uint64_t number);
  void export_handle(std::uint64_t number);
  void map(const wire::MapRecord& record, std::size_t heap_count);
  void restore_handle(const wire::HandleLiveRecord& record, std::size_t heap_count);
  void restore_mapping(const wire::MappingLiveRecord& record, std::size_t heap_count);
  void add_mapping(std::uint32_t heap, AddressRange range, const Mapping& mapping);
  void unmap(const wire::UnmapRecord& record, std::size_t heap_count);
  // Returns the bytes of the range where nothing was mapped.
  std::uint64_t cut_mappings(std::uint32_t heap, AddressRange range, bool is_unmap);
  void reserve(const wire::ReserveRecord& record, std::size_t heap_count);
  void unreserve(const wire::UnreserveRecord& record, std::size_t heap_count);

  // A handle's part in its heap's sums is taken out before it changes, and put in again afterwards.
  void count(const PhysicalHandle& handle, bool is_added);
  template <class Change>
  void change(std::uint32_t index, const Change& change);
  std::uint32_t new_handle(const PhysicalHandle& handle);
  void note_handle_of_heap(std::uint32_t index);
  PhysicalBytes& sums(std::uint32_t heap);

  std::vector<PhysicalHandle> handles_;
  std::vector<std::uint32_t> empty_places_;                            // In handles_.
  std::unordered_map<std::uint64_t, std::uint32_t> handle_of_number_;  // Those with references.
  RangeTable<Mapping> mappings_;
  RangeTable<Reservation> reservations_;
  std::vector<PhysicalBytes> heaps_;  // By id.
  // By heap: places in handles_ that may be its; some are no more, or are in it twice.
  std::vector<std::vector<std::uint32_t>> handles_of_heap_;
  std::vector<std::uint32_t> changed_;
  std::vector<PhysicalHandle> ended_;
  std::unordered_map<std::uint64_t, std::uint32_t> restored_;  // By event: where in handles_ it was put.
  PhysicalBytes none_, total_;                                 // All heaps: no sum of them overflows.
  PhysicalProblems problems_;
};

}  // namespace hbmscope
