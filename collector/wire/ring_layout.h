// The memory that a job and its observer share: rings, one a thread, that the job writes and the observer reads. It is
// a memfd of the job's making, so that what was written is there after a kill -9, and nothing is on disk.
//
//   RingsHeader | definitions: rows, only ever appended | listing: one heap's regions and blocks | rings, one a thread
//
// All three hold rows as in a block of rows: a RowHeader, a record of records.h, its text, padded to 8 bytes. Times are
// `ticks`: the time stamp counter, or nanoseconds where there is none that can be trusted.
//
// Who writes what. A ring's `head` and `lost` are its thread's, `tail` is the observer's; both only grow, and the place
// in the ring is their remainder. A row never wraps: where it does not fit before the end, a row of kind 0 fills the
// rest. A record names strings, stacks and heaps that are in the definitions already, so that an observer who reads the
// heads first and the definitions then knows all that it reads after that.
// Nothing waits, but for a call of the driver's. A full ring loses the event and counts it; as soon as there is room
// again a row of kind loss says so
// (`count`: all that this ring ever lost, `since_ns`: ticks). The observer then asks for listings by raising
// `listing_round`, and the next call about each heap writes one.
//
// Calls of the driver (rows with `driver_block`, with `block_at` and its like, and the physical layer's) wait for room
// as long as the observer takes rows out. What a call gives back is stamped when it begins and written when it has
// succeeded; meanwhile the ring's `giving_since` says that stamp, and the observer holds back what came later. A thread
// that finds no ring of its own is lent one of the last, for an event or for such a call; it loses the event, and
// counts it, only where all of them are in use.
//
// Everything in here is hostile to the observer, as bytes of any peer: the job's own bugs can write over it.
#pragma once

#include <cstdint>

#include "collector/wire/records.h"
#include "collector/wire/wire.h"

namespace hbmscope::wire {

constexpr std::uint32_t rings_version = 7;

struct RingsHeader {
  char magic[8] = {'h', 'b', 'm', 'r', 'i', 'n', 'g', 's'};
  std::uint32_t version = rings_version;
  std::uint32_t rings = 0;
  std::uint64_t ring_bytes = 0;  // A power of two.
  std::uint64_t definitions_offset = 0, definitions_bytes = 0;
  std::uint64_t listing_offset = 0, listing_bytes = 0;
  std::uint64_t rings_offset = 0;  // Of the first ring's header; its bytes follow, then the next.
  std::uint64_t ticks_are_ns = 0;

  // The job's.
  alignas(64) std::uint64_t definitions_end = 0;  // Bytes that are whole.
  std::uint64_t definitions_lost = 0;             // For want of room; ids of them are 0.
  std::uint64_t events_without_ring = 0;          // Lost, because every ring was in use.
  std::uint64_t rings_taken = 0;                  // Rings from here on never had a thread.
  std::uint64_t stacks_lost = 0;                  // Events without one, because a table was full.
  alignas(64) std::uint64_t listing_end = 0;      // Bytes of the listing that waits; 0: none does.
  // The observer's.
  alignas(64) std::uint32_t listing_round = 1;  // Heaps that were not listed since it was raised want to be.
};
static_assert(sizeof(RingsHeader) == 320);

struct RingHeader {
  alignas(64) std::uint64_t head = 0;  // Bytes ever written. The job's, as the next five.
  std::uint64_t lost = 0;              // Events that did not fit.
  std::uint64_t thread = 0;            // That writes; 0: free to be taken.
  std::uint64_t tail_seen = 0;         // Where the tail was when the thread last looked.
  std::uint64_t reported_lost = 0;     // Of `lost`, those that a row of kind loss has told of.
  std::uint64_t lost_since = 0;        // Ticks of the first that none has.
  std::uint64_t giving_since = 0;      // Ticks when the thread's call began that gives memory back; 0: it is in none.
  std::uint64_t gave_up_at = 0;        // One more than the tail at which the thread waited in vain; 0: it never did.
  alignas(64) std::uint64_t tail = 0;  // Bytes ever read. The observer's.
};
static_assert(sizeof(RingHeader) == 128);

constexpr std::uint64_t ring_stride(std::uint64_t ring_bytes) {
  return sizeof(RingHeader) + ring_bytes;
}

// Sparse: memory is taken where it was written.
constexpr std::uint32_t rings_wanted = 256;
constexpr std::uint32_t rings_lent_wanted = 32;  // To threads that find none.
constexpr std::uint64_t ring_bytes_wanted = std::uint64_t{8} << 20;
constexpr std::uint64_t definitions_bytes_wanted = std::uint64_t{64} << 20;
constexpr std::uint64_t listing_bytes_wanted = std::uint64_t{256} << 20;

constexpr RecordKind padding_kind{0};

// The job keeps no table of what lives; the observer has one (collector/serve/driver_memory.h) and fills in what these
// leave open.
constexpr std::uint32_t driver_block = 1U << 31;         // AllocRecord::flags: taken from the driver.
constexpr std::uint32_t named_by_handle = 1U << 30;      // And: `address` is a handle (of an array), no address.
constexpr std::uint32_t of_module = 1U << 29;            // And: a variable of code; once more says nothing new.
constexpr int owner_shift = 16;                          // And in the bits below: the number of the context or module
constexpr std::uint32_t owners_max = (1U << 13) - 1;     // that it ends with; 0: of none.
constexpr std::uint32_t block_at = ~std::uint32_t{0};    // FreeAtRecord::heap: whichever has a block at that address.
constexpr std::uint32_t block_of_handle = block_at - 1;  // FreeAtRecord::heap: `address` is the handle of a block.
constexpr std::uint32_t blocks_of = block_at - 2;        // FreeAtRecord::heap: `address` is the number of an owner.
constexpr std::uint32_t block_at_or_in = 1U << 31;       // And the heap: where no block of the driver's is there.

// What a job says when it connects to its observer; the memfd comes with it, and says the rest.
struct Hello {
  char magic[8] = {'h', 'b', 'm', 'h', 'e', 'l', 'l', 'o'};
};
static_assert(sizeof(Hello) == 8);
// The magic of one that was attached to. It waits for this byte, listens from then on, and stops when the observer
// closes the connection; it closes its end when all that it told is in the rings.
constexpr char hello_when_attached[8] = {'h', 'b', 'm', 'a', 't', 't', 'c', 'h'};
constexpr char attach_taken = 'y';

constexpr const char* observer_variable = "HBMSCOPE_OBSERVER";  // The path of the observer's socket.
// The number of the only process that is observed, whatever program it executes; not set: and all that it starts.
constexpr const char* no_follow_variable = "HBMSCOPE_NO_FOLLOW";
// Set: CUPTI tells of the driver's calls, where there is one to be had.
constexpr const char* cupti_variable = "HBMSCOPE_CUPTI";
// Which stacks calls of the driver have, and how deep: "python:64", "native:20". Not set, or anything else: none.
constexpr const char* stacks_variable = "HBMSCOPE_STACKS";
constexpr const char* stacks_of_python = "python";  // Python's frames where there are any, with the native ones below.
constexpr const char* stacks_of_code = "native";
constexpr const char* stacks_when_attached = "python:64";
constexpr std::uint32_t stack_depth_wanted = 64, stack_depth_max = 128;

}  // namespace hbmscope::wire
