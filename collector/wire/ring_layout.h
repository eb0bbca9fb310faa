// The memory that a job and its observer share: rings, one per thread, that the job writes and the observer reads. It
// is a memfd created by the job, so its contents survive a kill -9 of the job, and nothing is on disk.
//
//   RingsHeader | definitions: rows, append-only | listing: the regions and blocks of one heap | rings, one per thread
//
// All three contain rows in the format of a block of rows: a RowHeader, a record of records.h and its text, padded to 8
// bytes. Times are `ticks`: the time stamp counter, or nanoseconds if there is no reliable counter.
//
// Writers: `head` and `lost` of a ring belong to its thread, `tail` to the observer. `head` and `tail` only grow; the
// position in the ring is their remainder. A row never wraps: if it does not fit before the end, a row of kind 0 fills
// the rest. A record refers only to strings, stacks and heaps that are already in the definitions. So an observer that
// reads the heads first and the definitions next knows everything that it reads after that.
// Nothing waits except a driver call. A full ring loses the event and counts it. As soon as there is room again, a row
// of kind loss reports that (`count`: everything that this ring ever lost, `since_ns`: ticks). The observer then
// requests listings by raising
// `listing_round`, and the next call about each heap writes one.
//
// Driver calls (rows with `driver_block`, `block_at` and the like, and those of the physical layer) wait for room, a
// thread for a quarter of each second at most. A call that frees memory is stamped when it begins and written when it has
// succeeded. Meanwhile the ring's `freeing_since` holds that stamp, and the observer holds back later events. A thread
// without its own ring borrows one of the last rings, for one event or for one such call. Only if all of them are in
// use is the event lost, and counted.
//
// Everything in here is untrusted for the observer, like the bytes of any peer: bugs in the job can overwrite it.
#pragma once

#include <cstdint>

#include "collector/wire/records.h"
#include "collector/wire/wire.h"

namespace hbmscope::wire {

constexpr std::uint32_t rings_version = 9;

struct RingsHeader {
  char magic[8] = {'h', 'b', 'm', 'r', 'i', 'n', 'g', 's'};
  std::uint32_t version = rings_version;
  std::uint32_t rings = 0;
  std::uint64_t ring_bytes = 0;  // A power of two.
  std::uint64_t definitions_offset = 0, definitions_bytes = 0;
  std::uint64_t listing_offset = 0, listing_bytes = 0;
  std::uint64_t rings_offset = 0;  // Where the first ring's header is. Its bytes follow, then the next ring.
  std::uint64_t ticks_are_ns = 0;

  // Written by the job.
  alignas(64) std::uint64_t definitions_end = 0;  // Bytes that are complete.
  std::uint64_t definitions_lost = 0;             // Lost for lack of room; their ids are 0.
  std::uint64_t events_without_ring = 0;          // Lost because every ring was in use.
  std::uint64_t rings_taken = 0;                  // Rings from here on never had a thread.
  std::uint64_t stacks_lost = 0;                  // Events without a stack, because a table was full.
  std::uint64_t has_sandbox = 0;                  // 1: it has set up a sandbox (seccomp) since.
  alignas(64) std::uint64_t listing_end = 0;      // Bytes of the listing that waits to be read, if there is one.
  // Written by the observer.
  alignas(64) std::uint32_t listing_round = 1;  // Heaps not listed since this was raised must be listed.
};
static_assert(sizeof(RingsHeader) == 320);

struct RingHeader {
  alignas(64) std::uint64_t head = 0;  // Bytes ever written. The job writes this and the next seven.
  std::uint64_t lost = 0;              // Events that did not fit.
  std::uint64_t thread = 0;            // The thread that writes, or 0 if the ring is free.
  std::uint64_t tail_seen = 0;         // The tail when the thread last looked.
  std::uint64_t reported_lost = 0;     // The part of `lost` that rows of kind loss have reported.
  std::uint64_t lost_since = 0;        // Ticks of the first lost event not yet reported.
  std::uint64_t freeing_since = 0;     // Ticks at which the thread's current freeing call began, or 0 if it is in none.
  std::uint64_t gave_up_at = 0;  // One more than the tail at which the thread waited in vain, or 0 if it never did.
  alignas(64) std::uint64_t tail = 0;  // Bytes ever read. The observer writes this.
};
static_assert(sizeof(RingHeader) == 128);

constexpr std::uint64_t ring_stride(std::uint64_t ring_bytes) {
  return sizeof(RingHeader) + ring_bytes;
}

// Sparse: only written pages take memory.
constexpr std::uint32_t rings_wanted = 256;
constexpr std::uint32_t rings_lent_wanted = 32;  // For threads that have none.
constexpr std::uint64_t ring_bytes_wanted = std::uint64_t{8} << 20;
constexpr std::uint64_t definitions_bytes_wanted = std::uint64_t{64} << 20;
constexpr std::uint64_t listing_bytes_wanted = std::uint64_t{256} << 20;

constexpr RecordKind padding_kind{0};

// The job keeps no table of live blocks. The observer has one (collector/serve/driver_memory.h) and completes what
// these leave open.
constexpr std::uint32_t driver_block = 1U << 31;  // AllocRecord::flags: allocated from the driver.
// With driver_block: `address` is a handle (of an array), not an address.
constexpr std::uint32_t named_by_handle = 1U << 30;
constexpr std::uint32_t of_module = 1U << 29;  // With driver_block: a variable of a module; repeats add nothing.
// With driver_block, in the bits below `of_module`: the number of the context or module with which the block ends, or
// 0.
constexpr int owner_shift = 16;
constexpr std::uint32_t owners_max = (1U << 13) - 1;
constexpr std::uint32_t block_at = ~std::uint32_t{0};  // FreeAtRecord::heap: any heap that has a block at that address.
constexpr std::uint32_t block_of_handle = block_at - 1;  // FreeAtRecord::heap: `address` is the handle of a block.
constexpr std::uint32_t blocks_of = block_at - 2;        // FreeAtRecord::heap: `address` is the number of an owner.
constexpr std::uint32_t block_at_or_in = 1U << 31;       // With a heap: if there is no driver block at that address.

// A row of kind live in a ring, rather than in a listing: the framework has said that a pool has had this block since
// before the attach. Its size is what the framework uses of it.

// HeapRecord::flags: what is said about an address (block_of_pool) may be about a block of this heap. For the observer
// alone: it isn't recorded.
constexpr std::uint32_t has_named_blocks = 1U << 31;
constexpr std::uint64_t block_of_pool = std::uint64_t{1} << 63;  // AttributeRecord::allocation: or'ed to the address.

// Sent by a job when it connects to its observer. The memfd comes with it and describes itself.
struct Hello {
  char magic[8] = {'h', 'b', 'm', 'h', 'e', 'l', 'l', 'o'};
};
static_assert(sizeof(Hello) == 8);
// The magic of a job that was attached to. The job waits for the byte below, reports events from then on, and stops
// when the observer closes the connection. It closes its end when everything it reported is in the rings.
constexpr char hello_when_attached[8] = {'h', 'b', 'm', 'a', 't', 't', 'c', 'h'};
constexpr char attach_taken = 'y';

constexpr const char* observer_variable = "HBMSCOPE_OBSERVER";  // The path of the observer's socket.
// The number of the only process to observe, whatever program it executes. Not set: all processes that it starts, too.
constexpr const char* no_follow_variable = "HBMSCOPE_NO_FOLLOW";
// How many filters of system calls (seccomp) `hbmscope run` has. A process with more is in a sandbox, and not observed.
constexpr const char* filters_variable = "HBMSCOPE_SECCOMP_FILTERS";
// Set: CUPTI reports the driver calls, if it is available.
constexpr const char* cupti_variable = "HBMSCOPE_CUPTI";
// The kind and depth of the stacks of driver calls: "python:64", "native:20". Not set, or anything else: none.
constexpr const char* stacks_variable = "HBMSCOPE_STACKS";
// Python frames if there are any, with the native frames below them.
constexpr const char* stacks_of_python = "python";
constexpr const char* stacks_of_code = "native";
constexpr const char* stacks_when_attached = "python:64";
constexpr std::uint32_t stack_depth_wanted = 64, stack_depth_max = 128;

}  // namespace hbmscope::wire
