// Requests in the order in which a program made them and, if they were recorded, an allocator's answer to each. What a
// file calls an id is a slot here: it holds the address that the request got and is reused after the free.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/reference/interface/virtual_addresses.h"
#include "allocator/reference/xla_gpu/bfc.h"

namespace hbmscope::allocator {

struct StreamConfig {
  std::uint64_t total_bytes = 0;  // The allocator's limit.
  bool allow_growth = false, garbage_collection = false, is_spatial = false;
  double fragmentation_fraction = 0;
  VirtualOptions upstream;
  // The recorded regions are those of a real driver: check() serves and refuses as it did, at its addresses. Their
  // sizes, and those of refusals, are what the driver was asked for: rounded up to the granularity of `upstream`.
  bool has_recorded_driver = false;
};

struct Operation {
  bool is_free = false;
  std::uint32_t slot = 0;
  std::uint32_t line = 0;  // In the file, from 1. It is 0 if unknown, or 2^32 and above.
  Request request;
};

// When and where the program made the request, as ids of the trace that it was taken from. Ids are 0 if unknown.
struct Origin {
  std::int64_t time_ns = 0;
  std::uint32_t stack = 0, tag = 0;
};

// The recorded answer of the allocator. Values missing from the file are absent and not compared.
enum class RecordedOutcome : std::uint8_t { unknown, allocated, out_of_memory, zero_bytes, freed, nothing_freed };
struct RecordedAnswer {
  RecordedOutcome outcome = RecordedOutcome::unknown;
  std::uint32_t region = 0;
  std::uint64_t offset = 0, chunk_bytes = 0;
};

// What the allocator did to its upstream during an operation.
struct RegionEvent {
  enum class Kind : std::uint8_t { claimed, refused, released };
  Kind kind = Kind::claimed;
  std::uint32_t region = 0;           // For claimed and released.
  std::uint64_t bytes = 0;            // For refused: the requested bytes.
  std::uint64_t requested_bytes = 0;  // For claimed.
  std::uint64_t base = 0;             // For claimed.

  friend bool operator==(const RegionEvent&, const RegionEvent&) = default;
};
struct RecordedEvent {
  std::uint64_t operation = 0;  // The operation during which it happened, from 0.
  std::uint32_t line = 0;
  RegionEvent event;
};

struct ChunkRow {
  std::uint32_t region = 0;
  std::uint64_t offset = 0, bytes = 0;
  bool in_use = false;

  friend bool operator==(const ChunkRow&, const ChunkRow&) = default;
};

// The state after a number of operations, as far as the file records it.
struct RecordedState {
  std::uint64_t operations = 0;         // Operations before it in the file.
  std::uint64_t operations_before = 0;  // Operations before it according to the state itself.
  std::uint32_t line = 0;
  struct Number {
    std::string name;  // As in the file, "bytes_in_use".
    std::uint64_t value = 0;
  };
  std::vector<Number> numbers;
  bool has_fragmentation = false;
  std::optional<float> fragmentation;                           // Absent: undefined, because nothing is free.
  std::optional<std::uint64_t> hash;                            // fnv1a
  std::optional<std::vector<std::vector<std::uint64_t>>> bins;  // bin, bytes in use, bytes, chunks in use, chunks
  std::optional<std::vector<std::uint64_t>> region_order;
  std::optional<std::vector<ChunkRow>> chunk_list;
};

// Where blocks and regions were, according to the trace from which the requests were taken.
struct RecordedPlaces {
  struct Region {
    // The operation during which it came or went, from 0. Its event precedes the operation's own.
    std::uint64_t operation = 0;
    Claim claim;
    bool is_released = false;
    bool is_expandable = false;
    std::uint64_t position = 0;  // The number of events of the trace up to and including its own.
  };
  std::vector<Claim> regions_before;                // Regions that existed before the first event.
  std::vector<std::uint32_t> private_pools_before;  // The pool of each of them (Request::private_pool).
  bool is_expandable_before = false;                // At least one of them is part of an expandable segment.
  std::vector<PoolBlock> blocks_before;             // Their live blocks. The first operations request these.
  std::vector<std::uint64_t> addresses;             // One per operation. It is 0 for a free or a refused request.
  std::vector<Region> regions;                      // By operation.
};

struct RequestStream {
  StreamConfig config;
  std::vector<Operation> operations;
  std::vector<RecordedAnswer> answers;  // One per operation.
  std::vector<Origin> origins;          // One per operation, or empty.
  std::vector<RecordedEvent> events;    // By operation.
  std::vector<RecordedState> states;    // By operations.
  std::uint32_t slots = 0;

  bool has_answers() const;  // Whether there is anything to compare a replay with.
};

// The version under which the stream was recorded; options_of() may use another one.
xla_gpu::Version version_of(const StreamConfig& config);
xla_gpu::Options options_of(const StreamConfig& config, xla_gpu::Version version);

}  // namespace hbmscope::allocator
