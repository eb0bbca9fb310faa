// Made by generate_records.py from records.txt; changes go there.
// clang-format off
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmscope::wire {

enum class RecordKind : std::uint16_t {
  string = 1,
  frame = 2,
  stack = 3,
  module = 4,
  heap = 5,
  job = 6,
  clock = 7,
  code = 8,
  reserve_live = 9,
  live = 10,
  listing = 11,
  region_live = 12,
  free_slot = 13,
  handle_live = 14,
  mapping_live = 15,
  alloc = 16,
  free = 17,
  free_requested = 18,
  free_at = 19,
  free_requested_at = 20,
  move = 21,
  attribute = 22,
  move_at = 23,
  region_grow = 24,
  region_shrink = 25,
  heap_gone = 26,
  physical_create = 32,
  physical_import = 33,
  physical_export = 34,
  physical_release = 35,
  reserve = 36,
  unreserve = 37,
  map = 38,
  unmap = 39,
  driver_refusal = 48,
  out_of_memory = 49,
  marker = 50,
  counter = 51,
  loss = 52,
};

// How readers treat a record; records.txt explains each role.
enum class RecordRole : std::uint8_t { definition, listing, keyframe, block, heap, note, passed_over };

// A text, in UTF-8 if its source was.
struct StringRecord {
  static constexpr RecordKind kind = RecordKind::string;
  std::uint32_t id = 0;  // Its id.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(StringRecord) == 8);

// A source position. A frame with a `code` record may be defined again, when its name was found.
struct FrameRecord {
  static constexpr RecordKind kind = RecordKind::frame;
  std::uint32_t id = 0;        // Its id.
  std::uint32_t function = 0;  // String: the function.
  std::uint32_t file = 0;      // String: the file, as its source names it; for code without a known source, the program or library.
  std::uint32_t line = 0;      // Line, or 0 if it is unknown.
};
static_assert(sizeof(FrameRecord) == 16);

// A stack as a chain: the innermost frame, and the stack that called it.
struct StackRecord {
  static constexpr RecordKind kind = RecordKind::stack;
  std::uint32_t id = 0;      // Its id.
  std::uint32_t parent = 0;  // Stack of the callers, or 0 if this frame is the outermost.
  std::uint32_t frame = 0;   // Frame.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(StackRecord) == 16);

// A loaded program or library.
struct ModuleRecord {
  static constexpr RecordKind kind = RecordKind::module;
  std::uint64_t base = 0;      // Its address in the process.
  std::uint64_t size = 0;      // Size.
  std::uint32_t id = 0;        // Its id.
  std::uint32_t path = 0;      // String: its file.
  std::uint32_t build_id = 0;  // String: its build id in hexadecimal.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(ModuleRecord) == 32);

// A heap: an address range that one allocator manages. Heaps form a tree.
struct HeapRecord {
  static constexpr RecordKind kind = RecordKind::heap;
  std::uint32_t id = 0;                      // Its id.
  std::uint32_t parent = 0;                  // The heap below it, which provides its regions, or 0.
  std::uint32_t name = 0;                    // String: its display name.
  std::uint32_t memory_kind = 0;             // String: device, host_pinned, managed, hbm, vmem, smem, accumulator, ...
  std::uint32_t device = ~std::uint32_t{0};  // Device ordinal. 4294967295: unknown.
  std::uint32_t flags = 0;                   // What its source reports: heap_flag in wire.h.
  std::uint32_t uuid = 0;                    // String: the UUID of the device, "GPU-..." or "MIG-...", or 0 if it is unknown. It identifies the device; ordinals differ between processes.
  std::uint8_t layer = 0;                    // physical 0, pool 1, chunk 2, framework 3, program 4.
  std::uint8_t unused[3] = {};
};
static_assert(sizeof(HeapRecord) == 32);

// A fact about the job: command, host, version, device, allow-listed variable. Never a secret.
struct JobRecord {
  static constexpr RecordKind kind = RecordKind::job;
  std::uint32_t key = 0;    // String.
  std::uint32_t value = 0;  // String.
};
static_assert(sizeof(JobRecord) == 8);

// The same time on three clocks, at the start and every 10 s.
struct ClockRecord {
  static constexpr RecordKind kind = RecordKind::clock;
  std::uint64_t realtime_ns = 0;  // Time since 1970, or 0 if it is unknown.
  std::uint64_t tsc = 0;          // Time stamp counter, or 0 if it is unknown.
};
static_assert(sizeof(ClockRecord) == 16);

// The position of a frame in the code of its process, from which its name is found.
struct CodeRecord {
  static constexpr RecordKind kind = RecordKind::code;
  std::uint64_t address = 0;  // The address of a byte of the calling instruction.
  std::uint32_t frame = 0;    // Frame.
  std::uint32_t module = 0;   // The module that contains it, or 0 if it is unknown.
};
static_assert(sizeof(CodeRecord) == 16);

// In a keyframe: a range of reserved addresses.
struct ReserveLiveRecord {
  static constexpr RecordKind kind = RecordKind::reserve_live;
  std::uint64_t address = 0;  // First address.
  std::uint64_t size = 0;     // Size of the range.
  std::uint32_t heap = 0;     // Heap.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(ReserveLiveRecord) == 24);

// A block that was live before.
struct LiveRecord {
  static constexpr RecordKind kind = RecordKind::live;
  std::uint64_t address = 0;                    // First address.
  std::uint64_t size = 0;                       // Size, including rounding.
  std::uint64_t requested = ~std::uint64_t{0};  // The requested size. 18446744073709551615: unknown.
  std::uint64_t event = ~std::uint64_t{0};      // Its allocation id, if its allocation is in the stream. 18446744073709551615: unknown.
  std::uint32_t heap = 0;                       // Heap.
  std::uint32_t slot = 0;                       // Its slot in the live table.
  std::uint32_t stack = 0;                      // Stack, or 0 if it is unknown.
  std::uint32_t stream = 0;                     // Device stream, as a small number. The default one is 0.
  std::uint32_t tag = 0;                        // String, or 0.
  std::uint32_t flags = 0;                      // block_flag in wire.h.
};
static_assert(sizeof(LiveRecord) == 56);

// A new listing of a heap begins or ends. Blocks that were live before and are not in it are gone.
struct ListingRecord {
  static constexpr RecordKind kind = RecordKind::listing;
  std::uint64_t rows = 0;  // At an end in a keyframe: the number of its rows of state (regions, handles, mappings, reservations, slots, free slots).
  std::uint32_t heap = 0;  // Heap, or 0 for all.
  std::uint8_t phase = 0;  // 0 begins, 1 ends. In a keyframe each heap has its own end: plus 2 if events of its blocks are missing, plus 4 if events of its handles are missing.
  std::uint8_t unused[3] = {};
};
static_assert(sizeof(ListingRecord) == 16);

// A region that existed before.
struct RegionLiveRecord {
  static constexpr RecordKind kind = RecordKind::region_live;
  std::uint64_t address = 0;  // First address.
  std::uint64_t size = 0;     // Size.
  std::uint32_t heap = 0;     // Heap.
  std::uint32_t flags = 0;    // region_flag in wire.h.
};
static_assert(sizeof(RegionLiveRecord) == 24);

// A slot that is empty and free. The last one listed is taken first.
struct FreeSlotRecord {
  static constexpr RecordKind kind = RecordKind::free_slot;
  std::uint32_t slot = 0;  // The slot.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(FreeSlotRecord) == 8);

// In a keyframe: an existing handle to physical memory.
struct HandleLiveRecord {
  static constexpr RecordKind kind = RecordKind::handle_live;
  std::uint64_t handle = 0;      // The handle.
  std::uint64_t size = 0;        // Size of its memory.
  std::uint64_t event = 0;       // Its allocation id.
  std::uint32_t heap = 0;        // Heap.
  std::uint32_t stack = 0;       // Stack, or 0 if it is unknown.
  std::uint32_t references = 0;  // Creation and imports not released yet. At 0 only mappings keep it.
  std::uint32_t flags = 0;       // handle_flag in wire.h.
};
static_assert(sizeof(HandleLiveRecord) == 40);

// In a keyframe, after its handles: a part of a handle that is mapped at an address.
struct MappingLiveRecord {
  static constexpr RecordKind kind = RecordKind::mapping_live;
  std::uint64_t address = 0;                // First address.
  std::uint64_t size = 0;                   // Size.
  std::uint64_t event = ~std::uint64_t{0};  // The handle's allocation id. 18446744073709551615: unknown.
  std::uint64_t offset = 0;                 // Offset in the handle.
  std::uint32_t heap = 0;                   // Heap.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(MappingLiveRecord) == 40);

// A block was allocated. It takes the slot that was freed last, otherwise the next new one.
struct AllocRecord {
  static constexpr RecordKind kind = RecordKind::alloc;
  std::uint64_t address = 0;                    // First address.
  std::uint64_t size = 0;                       // Size, including rounding.
  std::uint64_t requested = ~std::uint64_t{0};  // The requested size. 18446744073709551615: unknown.
  std::uint32_t heap = 0;                       // Heap.
  std::uint32_t stack = 0;                      // Stack, or 0 if it is unknown.
  std::uint32_t stream = 0;                     // Device stream, as a small number. The default one is 0.
  std::uint32_t tag = 0;                        // String, or 0.
  std::uint32_t flags = 0;                      // block_flag in wire.h.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(AllocRecord) == 48);

// A block was freed, and its memory can be allocated again.
struct FreeRecord {
  static constexpr RecordKind kind = RecordKind::free;
  std::uint32_t slot = 0;   // Its slot.
  std::uint32_t stack = 0;  // Stack, or 0 if it is unknown. With 4294967295 its source did not record this free, but the address was handed out again.
};
static_assert(sizeof(FreeRecord) == 8);

// The program has freed a block; its memory is pending until a `free` follows.
struct FreeRequestedRecord {
  static constexpr RecordKind kind = RecordKind::free_requested;
  std::uint32_t slot = 0;   // Its slot.
  std::uint32_t stack = 0;  // Stack, or 0 if it is unknown.
};
static_assert(sizeof(FreeRequestedRecord) == 8);

// A block was freed, named by its address: from a collector that keeps no table; in a recording, an unknown block.
struct FreeAtRecord {
  static constexpr RecordKind kind = RecordKind::free_at;
  std::uint64_t address = 0;  // First address.
  std::uint64_t size = 0;     // Its size according to its source, or 0 if it is unknown.
  std::uint32_t heap = 0;     // Heap.
  std::uint32_t stack = 0;    // Stack, or 0 if it is unknown.
};
static_assert(sizeof(FreeAtRecord) == 24);

// Like `free_requested`, named by its address.
struct FreeRequestedAtRecord {
  static constexpr RecordKind kind = RecordKind::free_requested_at;
  std::uint64_t address = 0;  // First address.
  std::uint64_t size = 0;     // Its size according to its source, or 0 if it is unknown.
  std::uint32_t heap = 0;     // Heap.
  std::uint32_t stack = 0;    // Stack, or 0 if it is unknown.
};
static_assert(sizeof(FreeRequestedAtRecord) == 24);

// A block was moved (defragmentation).
struct MoveRecord {
  static constexpr RecordKind kind = RecordKind::move;
  std::uint64_t address = 0;  // Its new first address.
  std::uint32_t slot = 0;     // Its slot.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(MoveRecord) == 16);

// A fact about an allocation that became known later: tag, parameter path, shape, executable.
struct AttributeRecord {
  static constexpr RecordKind kind = RecordKind::attribute;
  std::uint64_t allocation = 0;  // Allocation id.
  std::uint64_t size = 0;        // The allocation's size, or 0 if it is not written.
  std::uint32_t key = 0;         // String.
  std::uint32_t value = 0;       // String.
  std::uint32_t stack = 0;       // The allocation's stack, so that a reader need not look for it. It is 0 if unknown or not written.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(AttributeRecord) == 32);

// A block was moved, named by its address: from a collector that keeps no table; in a recording, an unknown block.
struct MoveAtRecord {
  static constexpr RecordKind kind = RecordKind::move_at;
  std::uint64_t address = 0;  // Its new first address.
  std::uint64_t from = 0;     // Its old first address.
  std::uint32_t heap = 0;     // Heap.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(MoveAtRecord) == 24);

// A heap claimed memory from the layer below.
struct RegionGrowRecord {
  static constexpr RecordKind kind = RecordKind::region_grow;
  std::uint64_t address = 0;  // First address.
  std::uint64_t size = 0;     // Size.
  std::uint32_t heap = 0;     // Heap.
  std::uint32_t stack = 0;    // Stack, or 0 if it is unknown.
  std::uint32_t flags = 0;    // region_flag in wire.h.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(RegionGrowRecord) == 32);

// A heap released memory.
struct RegionShrinkRecord {
  static constexpr RecordKind kind = RecordKind::region_shrink;
  std::uint64_t address = 0;  // First address.
  std::uint64_t size = 0;     // Size.
  std::uint32_t heap = 0;     // Heap.
  std::uint32_t stack = 0;    // Stack, or 0 if it is unknown.
};
static_assert(sizeof(RegionShrinkRecord) == 24);

// A heap was destroyed with everything in it.
struct HeapGoneRecord {
  static constexpr RecordKind kind = RecordKind::heap_gone;
  std::uint32_t heap = 0;  // Heap.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(HeapGoneRecord) == 8);

// A handle to physical memory was created.
struct PhysicalCreateRecord {
  static constexpr RecordKind kind = RecordKind::physical_create;
  std::uint64_t handle = 0;  // The handle.
  std::uint64_t size = 0;    // Size of its memory.
  std::uint32_t heap = 0;    // Heap.
  std::uint32_t stack = 0;   // Stack, or 0 if it is unknown.
};
static_assert(sizeof(PhysicalCreateRecord) == 24);

// A handle came from another process; its bytes are counted there.
struct PhysicalImportRecord {
  static constexpr RecordKind kind = RecordKind::physical_import;
  std::uint64_t handle = 0;  // The handle.
  std::uint64_t size = 0;    // Size of its memory.
  std::uint32_t heap = 0;    // Heap.
  std::uint32_t stack = 0;   // Stack, or 0 if it is unknown.
};
static_assert(sizeof(PhysicalImportRecord) == 24);

// A handle was shared with another process.
struct PhysicalExportRecord {
  static constexpr RecordKind kind = RecordKind::physical_export;
  std::uint64_t handle = 0;  // The handle.
};
static_assert(sizeof(PhysicalExportRecord) == 8);

// The program released a handle.
struct PhysicalReleaseRecord {
  static constexpr RecordKind kind = RecordKind::physical_release;
  std::uint64_t handle = 0;  // The handle.
};
static_assert(sizeof(PhysicalReleaseRecord) == 8);

// Addresses were reserved, without memory.
struct ReserveRecord {
  static constexpr RecordKind kind = RecordKind::reserve;
  std::uint64_t address = 0;  // First address.
  std::uint64_t size = 0;     // Size of the range.
  std::uint32_t heap = 0;     // Heap.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(ReserveRecord) == 24);

// A reservation was released.
struct UnreserveRecord {
  static constexpr RecordKind kind = RecordKind::unreserve;
  std::uint64_t address = 0;  // First address.
  std::uint64_t size = 0;     // Size of the range.
  std::uint32_t heap = 0;     // Heap.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(UnreserveRecord) == 24);

// A part of a handle was mapped at an address.
struct MapRecord {
  static constexpr RecordKind kind = RecordKind::map;
  std::uint64_t address = 0;  // First address.
  std::uint64_t size = 0;     // Size.
  std::uint64_t handle = 0;   // The handle.
  std::uint64_t offset = 0;   // Offset in the handle.
  std::uint32_t heap = 0;     // Heap.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(MapRecord) == 40);

// A mapping was removed.
struct UnmapRecord {
  static constexpr RecordKind kind = RecordKind::unmap;
  std::uint64_t address = 0;  // First address.
  std::uint64_t size = 0;     // Size.
  std::uint32_t heap = 0;     // Heap.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(UnmapRecord) == 24);

// The driver refused a request. Not yet out of memory: the framework may retry.
struct DriverRefusalRecord {
  static constexpr RecordKind kind = RecordKind::driver_refusal;
  std::uint64_t requested = 0;                  // The requested size.
  std::uint64_t available = ~std::uint64_t{0};  // Bytes free on the device according to the driver. 18446744073709551615: unknown.
  std::uint32_t heap = 0;                       // Heap, or 0 if it is unknown.
  std::uint32_t stack = 0;                      // Stack, or 0 if it is unknown.
  std::uint32_t call = 0;                       // String: the call.
  std::uint32_t error = 0;                      // The driver's error number.
};
static_assert(sizeof(DriverRefusalRecord) == 32);

// A framework reported that it is out of memory.
struct OutOfMemoryRecord {
  static constexpr RecordKind kind = RecordKind::out_of_memory;
  std::uint64_t requested = 0;                  // The requested size.
  std::uint64_t available = ~std::uint64_t{0};  // Bytes free on the device according to its source. 18446744073709551615: unknown.
  std::uint32_t heap = 0;                       // Heap, or 0 if it is unknown.
  std::uint32_t stack = 0;                      // Stack, or 0 if it is unknown.
  std::uint32_t reason = 0;                     // String: why, if reported.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(OutOfMemoryRecord) == 32);

// A marker: a step, a range, a note.
struct MarkerRecord {
  static constexpr RecordKind kind = RecordKind::marker;
  std::uint32_t name = 0;                    // String.
  std::uint32_t device = ~std::uint32_t{0};  // Device ordinal. 4294967295: unknown.
  std::uint32_t stack = 0;                   // Stack, or 0 if it is unknown or says nothing.
  std::uint8_t phase = 0;                    // 0 instant, 1 begins, 2 ends.
  std::uint8_t unused[3] = {};
};
static_assert(sizeof(MarkerRecord) == 16);

// A value reported by another source, unmodified: memory_stats, cuMemGetInfo.
struct CounterRecord {
  static constexpr RecordKind kind = RecordKind::counter;
  std::int64_t value = 0;  // The value.
  std::uint32_t name = 0;  // String.
  std::uint32_t heap = 0;  // Heap, or 0.
};
static_assert(sizeof(CounterRecord) == 16);

// Events are missing here. The heap is inexact until it has been listed again.
struct LossRecord {
  static constexpr RecordKind kind = RecordKind::loss;
  std::uint64_t count = 0;     // Their number, or 0 if it is unknown.
  std::uint64_t since_ns = 0;  // Start of the loss; it ends at the time of the record.
  std::uint32_t heap = 0;      // Heap, or 0 for all.
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(LossRecord) == 24);

enum class Unit : std::uint8_t { bytes, address, ns, id, slot, count, code, value, none };
enum class Coding : std::uint8_t { plain, delta, from, zigzag };

struct FieldDescription {
  const char* name;
  Unit unit;
  Coding coding;
  std::uint8_t bytes;
  std::uint8_t offset;   // In the record's struct.
  bool is_all_ones;      // Value if the writer did not know the field: all ones (unknown), or 0.
};
constexpr std::size_t record_fields_max = 12;
struct RecordDescription {
  const char* name;
  RecordKind kind;
  std::uint16_t since;
  std::uint16_t struct_bytes;
  RecordRole role;
  bool is_noted;
  bool has_text;
  std::uint8_t field_count;
  FieldDescription fields[record_fields_max];
};
constexpr std::size_t record_count = 39;
constexpr std::size_t record_number_max = 52;
extern const RecordDescription record_table[record_count];

// Null for a kind that this version does not know.
const RecordDescription* find_record(std::uint16_t kind);

// Calls use.operator()<Record>() with the struct of that kind. False: this version does not know the kind.
template <class Use>
bool with_record_type(RecordKind kind, const Use& use) {
  switch (kind) {
    case RecordKind::string: use.template operator()<StringRecord>(); return true;
    case RecordKind::frame: use.template operator()<FrameRecord>(); return true;
    case RecordKind::stack: use.template operator()<StackRecord>(); return true;
    case RecordKind::module: use.template operator()<ModuleRecord>(); return true;
    case RecordKind::heap: use.template operator()<HeapRecord>(); return true;
    case RecordKind::job: use.template operator()<JobRecord>(); return true;
    case RecordKind::clock: use.template operator()<ClockRecord>(); return true;
    case RecordKind::code: use.template operator()<CodeRecord>(); return true;
    case RecordKind::reserve_live: use.template operator()<ReserveLiveRecord>(); return true;
    case RecordKind::live: use.template operator()<LiveRecord>(); return true;
    case RecordKind::listing: use.template operator()<ListingRecord>(); return true;
    case RecordKind::region_live: use.template operator()<RegionLiveRecord>(); return true;
    case RecordKind::free_slot: use.template operator()<FreeSlotRecord>(); return true;
    case RecordKind::handle_live: use.template operator()<HandleLiveRecord>(); return true;
    case RecordKind::mapping_live: use.template operator()<MappingLiveRecord>(); return true;
    case RecordKind::alloc: use.template operator()<AllocRecord>(); return true;
    case RecordKind::free: use.template operator()<FreeRecord>(); return true;
    case RecordKind::free_requested: use.template operator()<FreeRequestedRecord>(); return true;
    case RecordKind::free_at: use.template operator()<FreeAtRecord>(); return true;
    case RecordKind::free_requested_at: use.template operator()<FreeRequestedAtRecord>(); return true;
    case RecordKind::move: use.template operator()<MoveRecord>(); return true;
    case RecordKind::attribute: use.template operator()<AttributeRecord>(); return true;
    case RecordKind::move_at: use.template operator()<MoveAtRecord>(); return true;
    case RecordKind::region_grow: use.template operator()<RegionGrowRecord>(); return true;
    case RecordKind::region_shrink: use.template operator()<RegionShrinkRecord>(); return true;
    case RecordKind::heap_gone: use.template operator()<HeapGoneRecord>(); return true;
    case RecordKind::physical_create: use.template operator()<PhysicalCreateRecord>(); return true;
    case RecordKind::physical_import: use.template operator()<PhysicalImportRecord>(); return true;
    case RecordKind::physical_export: use.template operator()<PhysicalExportRecord>(); return true;
    case RecordKind::physical_release: use.template operator()<PhysicalReleaseRecord>(); return true;
    case RecordKind::reserve: use.template operator()<ReserveRecord>(); return true;
    case RecordKind::unreserve: use.template operator()<UnreserveRecord>(); return true;
    case RecordKind::map: use.template operator()<MapRecord>(); return true;
    case RecordKind::unmap: use.template operator()<UnmapRecord>(); return true;
    case RecordKind::driver_refusal: use.template operator()<DriverRefusalRecord>(); return true;
    case RecordKind::out_of_memory: use.template operator()<OutOfMemoryRecord>(); return true;
    case RecordKind::marker: use.template operator()<MarkerRecord>(); return true;
    case RecordKind::counter: use.template operator()<CounterRecord>(); return true;
    case RecordKind::loss: use.template operator()<LossRecord>(); return true;
  }
  return false;
}

}  // namespace hbmscope::wire
