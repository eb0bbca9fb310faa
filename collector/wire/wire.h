// Blocks, files and flags of the wire format. The records are in records.h; the byte format is described in FORMAT.md.
//
// A block is the unit of storage and transmission: at most 65,536 events of one stream, columnar, compressed and
// checksummed separately. So a file with a missing end loses at most one block, and a reader can begin at any block.
#pragma once

#include <bit>
#include <cstdint>

#include "collector/wire/records.h"

namespace hbmscope::wire {

static_assert(std::endian::native == std::endian::little,
              "the wire is little-endian and structs are copied as they are");

constexpr std::uint16_t format_version = 1;
constexpr std::uint32_t block_events_max = 65'536;
// Definitions and state have no number and no such limit. This limit keeps a malicious header from reserving memory.
constexpr std::uint32_t block_records_max = 1U << 24;
constexpr std::uint32_t block_records_wanted = 1U << 18;  // A writer closes a block of definitions here.
constexpr std::uint32_t block_bytes_max = 1U << 28;
constexpr std::uint32_t text_bytes_max = 1U << 20;            // Per text; longer ones are truncated.
constexpr std::uint32_t block_text_wanted = 1U << 24;         // A writer closes a block here.
constexpr std::uint64_t events_max = std::uint64_t{1} << 62;  // Per stream, so sums of numbers never overflow.
constexpr std::uint32_t streams_max = 4096;                   // Per recording; writers number them from 0.
constexpr std::uint16_t first_event_kind = 16;

constexpr bool is_event(std::uint16_t kind) {
  return kind >= first_event_kind;
}

constexpr std::uint64_t unknown_bytes = ~std::uint64_t{0};
// Handles from here on are not the driver's. They stand for the memory that the driver holds for the graphs of a device
// and does not give to requests.
constexpr std::uint64_t graph_handles = 0xffff'fffe'0000'0000;
constexpr std::uint64_t before_the_stream = ~std::uint64_t{0};  // An allocation id that no event has.
constexpr std::uint32_t no_device = ~std::uint32_t{0};
// The stack of a free that its source did not record: the address was handed out again, so the block must have been
// freed.
constexpr std::uint32_t derived_free = ~std::uint32_t{0};

enum class BlockType : std::uint8_t { events = 1, keyframe = 2, index = 3 };
enum class BlockForm : std::uint8_t { columns = 0, zstd_columns = 1, rows = 2 };

struct BlockHeader {
  std::uint32_t magic = 0x426d6268;  // "hbmB"
  std::uint16_t version = format_version;
  BlockType type = BlockType::events;
  BlockForm form = BlockForm::columns;
  std::uint32_t stream = 0;
  std::uint32_t records = 0;
  std::uint64_t first_event = 0;
  std::int64_t first_time_ns = 0, last_time_ns = 0;
  std::uint32_t events = 0;
  std::uint32_t stored_bytes = 0;  // Size of the payload.
  std::uint32_t raw_bytes = 0;     // Size of the payload after decompression.
  // Counts the blocks of events of a stream from 0, so that missing ones are noticed. For a keyframe: that of the next
  // block of events.
  std::uint32_t sequence = 0;
  std::uint64_t xxh3 = 0;
};
static_assert(sizeof(BlockHeader) == 64);

struct FileHeader {
  char magic[8] = {'h', 'b', 'm', 's', 'c', 'o', 'p', 'e'};
  std::uint32_t version = format_version;
  std::uint32_t bytes = 32;
  std::uint64_t begun_ms = 0;  // Since 1970.
  std::uint64_t unused = 0;
};
static_assert(sizeof(FileHeader) == 32);

struct FileTrailer {
  std::uint64_t index_offset = 0;
  char magic[8] = {'h', 'b', 'm', 'i', 'n', 'd', 'e', 'x'};
};
static_assert(sizeof(FileTrailer) == 16);

// Precedes each record in a block of rows.
struct RowHeader {
  std::uint16_t words = 0;  // Header, struct and text, in units of 8 bytes.
  RecordKind kind{};
  std::uint16_t struct_bytes = 0;  // As the writer knows it.
  std::uint16_t text_bytes = 0;
  std::int64_t time_ns = 0;
};
static_assert(sizeof(RowHeader) == 16);

enum class Layer : std::uint8_t { physical, pool, chunk, framework, program };

// What a heap's source reports (HeapRecord::flags). What it does not report is absent in every answer, never 0.
namespace heap_flag {
constexpr std::uint32_t has_regions = 1;    // Where its memory is: distinguishes free memory from no memory.
constexpr std::uint32_t has_requested = 2;  // Requested sizes, in addition to block sizes.
constexpr std::uint32_t has_two_ends = 4;   // Blocks grow from both ends.
constexpr std::uint32_t has_addresses = 8;  // Otherwise addresses are invented to identify blocks, and no map is drawn.
constexpr std::uint32_t is_complete_at_start = 16;  // All blocks that were live at the start of the stream are listed.
constexpr std::uint32_t sizes_are_requests = 32;    // Block sizes are not reported; requested sizes are used instead.
// The reports of its source contradict each other: figures are inexact until it is listed again.
constexpr std::uint32_t contradicts_itself = 64;
// A framework's pool, seen from the inside: its regions are memory of the driver, so its blocks say what that is.
constexpr std::uint32_t is_inside_of_driver = 128;
// Its peak may be higher: some of its blocks may be larger than reported, or a part of its history is missing.
constexpr std::uint32_t peak_is_minimum = 256;
}  // namespace heap_flag

namespace region_flag {
constexpr std::uint32_t joins_neighbours = 1;  // Blocks may span adjacent regions (expandable segments).
}

namespace block_flag {
constexpr std::uint32_t upper_end = 1;   // From the upper end of a two-ended pool.
constexpr std::uint32_t is_pending = 2;  // Freed by the program, but its memory is not yet free (LiveRecord).
// The source reports the requested size; the block size was computed from the remainder.
constexpr std::uint32_t is_size_derived = 4;
constexpr std::uint32_t is_loose = 8;  // In keyframes: overlaps another block, or is outside all regions.
// Its address is unknown, though the heap has addresses: this one is invented and only identifies the block.
constexpr std::uint32_t has_no_address = 16;
}  // namespace block_flag

// How a listing ends (ListingRecord::phase).
namespace listing_end {
constexpr std::uint8_t is_end = 1;
constexpr std::uint8_t lacks_blocks = 2;   // In keyframes: events of its blocks were lost, and it was not listed since.
constexpr std::uint8_t lacks_handles = 4;  // In keyframes: events were lost, and listings contain no handles.
}  // namespace listing_end

namespace handle_flag {
constexpr std::uint32_t is_imported = 1;  // From another process.
constexpr std::uint32_t is_exported = 2;  // Shared with another process.
}  // namespace handle_flag

}  // namespace hbmscope::wire
