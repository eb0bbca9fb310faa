// The device memory that a process owns through handles (CUDA's virtual memory management: cuMemCreate, cuMemMap).
//
// A handle owns bytes from its creation until it is released and no longer mapped. Mapping does not allocate: a handle
// of 2 MiB mapped at two addresses takes 2 MiB of the device. A handle imported from another process is counted in that
// process. Addresses may be reserved without memory behind them.
//
// Rules of the source (CUDA driver API, cuMemRelease, cuMemUnmap): a handle may be released while it is mapped; every
// import needs its own release; an unmap removes whole mappings, one or several adjacent ones. Events that break these
// rules are applied as far as they make sense, and counted.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/trace/range_table.h"
#include "collector/wire/block_decoder.h"

namespace hbmscope {

// Figures of one heap, or of several. Bytes of device memory, except where the comment says addresses.
struct PhysicalBytes {
  std::uint64_t owned_bytes = 0;     // Live handles created here.
  std::uint64_t unmapped_bytes = 0;  // Part of owned_bytes: allocated, but not mapped anywhere.
  std::uint64_t exported_bytes = 0;  // Part of owned_bytes: shared with another process, which may keep them longer.
  std::uint64_t imported_bytes = 0;  // Handles from another process, which counts them.
  std::uint64_t mapped_bytes = 0;    // Addresses backed by memory; a handle mapped twice counts twice.
  std::uint64_t reserved_bytes = 0;  // Reserved addresses, mapped or not.
  std::uint64_t handles = 0;         // Live ones, including imported ones.
  bool is_inexact = false;           // Events were lost. Handles are never listed again, so this stays set.

  // A loss alone does not count: is_inexact of a heap without handles is reported by the heap itself.
  bool has_any() const {
    return (owned_bytes | unmapped_bytes | exported_bytes | imported_bytes | mapped_bytes | reserved_bytes | handles) !=
           0;
  }

  friend bool operator==(const PhysicalBytes&, const PhysicalBytes&) = default;
};

// Violations of the source's own rules.
struct PhysicalProblems {
  std::uint64_t unknown_releases = 0;  // Releases and exports of an unknown handle: released twice, or older.
  std::uint64_t missed_releases = 0;   // A number was reused; its previous handle is treated as released.
  std::uint64_t unknown_handles = 0;   // Mappings of an unknown handle; their addresses count as mapped.
  std::uint64_t beyond_handle = 0;     // Mappings that extend past the end of their handle.
  std::uint64_t missed_unmaps = 0;     // Mappings over others, which are treated as unmapped there.
  std::uint64_t unknown_unmaps = 0;    // Unmaps that include unmapped addresses.
  std::uint64_t partial_unmaps = 0;    // Unmaps of part of a mapping; the rest stays.
  std::uint64_t bad_reservations = 0;  // Over others, or freed where nothing was reserved.
  std::uint64_t impossible_sizes = 0;  // No bytes, or more than any device has; left out.
  std::uint64_t undefined_heaps = 0;

  PhysicalProblems& operator+=(const PhysicalProblems& more);
  friend bool operator==(const PhysicalProblems&, const PhysicalProblems&) = default;
};

struct PhysicalHandle {
  std::uint64_t event = 0;   // The allocation id: the number of the event that created it.
  std::uint64_t number = 0;  // The driver's number; reusable after the release.
  std::uint64_t size = 0;
  std::uint32_t heap = 0, stack = 0;
  std::uint32_t references = 0;  // Creation and imports that are not yet released. 0: only mappings keep it.
  std::uint32_t mappings = 0;
  bool is_imported = false, is_exported = false;

  bool is_live() const { return references > 0 || mappings > 0; }
};

class PhysicalState {
 public:
  // Applies a record of the kinds 32 to 39; ignores others. `heap_count`: the number of defined heaps, including id 0.
  void apply(wire::RecordKind kind, const wire::DecodedBlock& block, std::size_t row, std::uint64_t event,
             std::size_t heap_count);
  // Applies a row of a keyframe (handle_live, mapping_live, reserve_live) after clear(). Does not count problems again.
  void restore(wire::RecordKind kind, const wire::DecodedBlock& block, std::size_t row, std::size_t heap_count);
  // Drops all handles, mappings and reservations; keeps the problem counts.
  void clear();
  // Heaps whose figures changed since clear_changed(); may contain duplicates.
  std::span<const std::uint32_t> changed() const { return changed_; }
  // Handles that ended since then: released and no longer mapped. Their other fields are as before.
  std::span<const PhysicalHandle> ended() const { return ended_; }
  void clear_changed() {
    changed_.clear();
    ended_.clear();
  }
  // The heap is gone, with its handles, mappings and reservations.
  void drop_heap(std::uint32_t heap);
  void note_loss(std::uint32_t heap, std::size_t heap_count);  // 0: all heaps.
  // A keyframe contained all of it.
  void note_whole(std::uint32_t heap) { sums(heap).is_inexact = false; }

  const PhysicalBytes& heap(std::uint32_t id) const { return id < heaps_.size() ? heaps_[id] : none_; }
  const PhysicalProblems& problems() const { return problems_; }
  // Entries that are not live are unused places.
  std::span<const PhysicalHandle> handles() const { return handles_; }

  // A compact copy: about ten bytes per handle and mapping, empty if nothing ever happened. Not a file format: only
  // this process unpacks it.
  std::vector<std::uint8_t> pack() const;
  static PhysicalState unpack(std::span<const std::uint8_t> bytes);

 private:
  static constexpr std::uint32_t no_handle = 0xffffffff;
  struct Mapping {
    std::uint32_t handle = no_handle;
    std::uint64_t offset = 0;  // Within the handle.
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
  // Returns how many bytes of the range were not mapped.
  std::uint64_t cut_mappings(std::uint32_t heap, AddressRange range, bool is_unmap);
  void reserve(const wire::ReserveRecord& record, std::size_t heap_count);
  void unreserve(const wire::UnreserveRecord& record, std::size_t heap_count);

  // A handle's contribution is removed from its heap's sums before it changes, and added again afterwards.
  void count(const PhysicalHandle& handle, bool is_added);
  template <class Change>
  void change(std::uint32_t index, const Change& change);
  std::uint32_t new_handle(const PhysicalHandle& handle);
  void note_handle_of_heap(std::uint32_t index);
  PhysicalBytes& sums(std::uint32_t heap);

  std::vector<PhysicalHandle> handles_;
  std::vector<std::uint32_t> empty_places_;                            // In handles_.
  std::unordered_map<std::uint64_t, std::uint32_t> handle_of_number_;  // Only those with references.
  RangeTable<Mapping> mappings_;
  RangeTable<Reservation> reservations_;
  std::vector<PhysicalBytes> heaps_;  // By id.
  // By heap: places in handles_ that may belong to it; may contain stale entries and duplicates.
  std::vector<std::vector<std::uint32_t>> handles_of_heap_;
  std::vector<std::uint32_t> changed_;
  std::vector<PhysicalHandle> ended_;
  std::unordered_map<std::uint64_t, std::uint32_t> restored_;  // By event: its place in handles_.
  PhysicalBytes none_, total_;                                 // All heaps, kept so that no sum of them overflows.
  PhysicalProblems problems_;
};

}  // namespace hbmscope
