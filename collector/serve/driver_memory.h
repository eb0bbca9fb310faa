// A process's allocations from the driver. Its rows name a block only by its address and a mapping only by its handle.
// This class knows the heap of each, and which memory is not new: a mapping, or another process's block.
//
// - Blocks that have a handle and no address (arrays) get addresses above those of all devices.
// - A handle whose size the driver does not report (an import) is recorded with its first mapping.
// - A block of 0 bytes is not recorded, nor are its frees: it is a graph's node, which counts as part of the graph's
//   memory.
// - A handle that owns nothing (multicast) is not recorded, nor are its mappings.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>

#include "collector/serve/pool_regions.h"
#include "collector/wire/ring_layout.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::serve {

class DriverMemory {
 public:
  DriverMemory(wire::StreamWriter& writer, PoolRegions& regions) : writer_(writer), regions_(regions) {}

  // `ticks`: when the next row took effect, on the job's clock; rows may come out of order. `freeing_since`: the start
  // of the oldest freeing call whose row is no longer awaited (0: none). If the driver hands out an address again
  // meanwhile, it counts as freed by that call, and the call's row is dropped when it arrives.
  void begin_row(std::uint64_t ticks, std::uint64_t freeing_since) {
    ticks_ = ticks;
    is_call_out_ = freeing_since != 0 && freeing_since < ticks;
  }

  // Records with the stream's ids. If the heap must be looked up here and is not found, the record's own heap is used.
  void take(wire::AllocRecord block, std::int64_t time_ns);
  void give(const wire::FreeAtRecord& free, std::int64_t time_ns);
  void give_handle(const wire::FreeAtRecord& free, std::int64_t time_ns);
  // Frees all blocks of an owner that has ended; `address` is the owner's number.
  void give_all_of(const wire::FreeAtRecord& owner, std::int64_t time_ns);
  // `allocation` is the block's address. Attributes of unknown blocks are not recorded.
  void note(wire::AttributeRecord attribute, std::int64_t time_ns);

  void create(const wire::PhysicalCreateRecord& handle, std::int64_t time_ns);
  void import(wire::PhysicalImportRecord handle, std::int64_t time_ns);
  void export_handle(const wire::PhysicalExportRecord& handle, std::int64_t time_ns);
  void release(const wire::PhysicalReleaseRecord& handle, std::int64_t time_ns);
  void map(wire::MapRecord mapping, std::int64_t time_ns);
  void unmap(const wire::UnmapRecord& range, std::int64_t time_ns);
  void reserve(const wire::ReserveRecord& range, std::int64_t time_ns);
  void unreserve(wire::UnreserveRecord range, std::int64_t time_ns);

 private:
  struct Block {
    std::uint32_t heap = 0;
    std::uint32_t owner = 0;    // A context or a module, or 0.
    std::uint64_t address = 0;  // As recorded.
    std::uint64_t event = 0;
    std::uint64_t key = 0;  // Its address or handle, as the job reports it.
    std::uint64_t taken_at = 0;
    bool is_reported = true, is_array = false;
    Block* next = nullptr;  // The owner's next block.
    Block* previous = nullptr;
  };
  using Blocks = std::unordered_map<std::uint64_t, Block>;
  struct Handle {
    std::uint32_t heap = 0, references = 1;
    std::uint64_t size = 0;  // 0: unknown yet.
    std::uint64_t created_at = 0;
    bool owns_nothing = false;
  };
  struct Mapping {
    std::uint32_t heap = 0, count = 1;
    std::uint64_t size = 0, handle = 0, mapped_at = 0;
    bool is_reported = true;
  };
  struct Reservation {
    std::uint32_t heap = 0;
    std::uint64_t size = 0, reserved_at = 0;
  };
  // Rows that are still to come for memory that counted as freed when its address or handle was handed out again.
  struct EarlyRows {
    std::uint32_t rows = 0;
    std::uint64_t until = 0;  // The rows took effect before this.
  };
  using EarlyReports = std::unordered_map<std::uint64_t, EarlyRows>;
  void note_early(EarlyReports& early, std::uint64_t key, std::uint32_t rows = 1);
  bool was_early(EarlyReports& early, std::uint64_t key);

  bool unmap_at(std::uint64_t address, std::int64_t time_ns);
  void free(const Block& block, std::uint32_t stack, std::int64_t time_ns);
  void add_to_owner(Block& block);
  void take_from_owner(const Block& block);
  void forget(Blocks& blocks, Blocks::iterator block);

  wire::StreamWriter& writer_;
  PoolRegions& regions_;
  std::uint64_t ticks_ = 0;
  bool is_call_out_ = false;
  EarlyReports early_blocks_, early_arrays_, early_handles_, early_mappings_, early_reservations_;
  Blocks blocks_, array_blocks_;                     // By address, by handle.
  std::unordered_map<std::uint32_t, Block*> owned_;  // The first block of each owner.
  std::unordered_map<std::uint64_t, Handle> handles_;
  std::map<std::uint64_t, Mapping> mappings_;                    // By address.
  std::unordered_map<std::uint64_t, Reservation> reservations_;  // By address.
  std::uint64_t next_address_ = std::uint64_t{1} << 60;          // For blocks that have no address.
  std::uint32_t first_heap_ = 0;                                 // For blocks whose heap is unknown.
};

}  // namespace hbmscope::serve
