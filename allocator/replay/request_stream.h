// Requests in the order in which a program made them, and, where somebody recorded them, the answers of an allocator
// to each. What a file calls an id is here a slot: a place for the address that the request got, reused after its free.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/upstream/virtual_addresses.h"
#include "allocator/xla_gpu/bfc.h"

namespace hbmscope::allocator {

struct StreamConfig {
  std::uint64_t total_bytes = 0;  // The allocator's limit.
  bool allow_growth = false, garbage_collection = false, is_spatial = false;
  double fragmentation_fraction = 0;
  VirtualOptions upstream;
};

struct Operation {
  bool is_free = false;
  std::uint32_t slot = 0;
  std::uint32_t line = 0;  // Of the file, from 1; of 2^32 and more unknown: 0.
  Request request;
};

// When and where a program asked, in the numbers of the trace that the operation was taken from; 0: not told.
struct Origin {
  std::int64_t time_ns = 0;
  std::uint32_t stack = 0, tag = 0;
};

// What the recorded allocator answered. What the file does not say is absent and not compared.
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
  std::uint32_t region = 0;       // Of claimed and released.
  std::uint64_t bytes = 0;        // Of refused: what was asked.
  std::uint64_t asked_bytes = 0;  // Of claimed.
  std::uint64_t base = 0;         // Of claimed.

  friend bool operator==(const RegionEvent&, const RegionEvent&) = default;
};
struct RecordedEvent {
  std::uint64_t operation = 0;  // During which it happened, from 0.
  std::uint32_t line = 0;
  RegionEvent event;
};

struct ChunkRow {
  std::uint32_t region = 0;
  std::uint64_t offset = 0, bytes = 0;
  bool in_use = false;

  friend bool operator==(const ChunkRow&, const ChunkRow&) = default;
};

// The state after so many operations, as far as the file tells it.
struct RecordedState {
  std::uint64_t operations = 0;         // That stand before it in the file.
  std::uint64_t operations_before = 0;  // That it says there were.
  std::uint32_t line = 0;
  struct Number {
    std::string name;  // As in the file, "bytes_in_use".
    std::uint64_t value = 0;
  };
  std::vector<Number> numbers;
  bool has_fragmentation = false;
  std::optional<float> fragmentation;                           // Absent: undefined, nothing is free.
  std::optional<std::uint64_t> hash;                            // fnv1a
  std::optional<std::vector<std::vector<std::uint64_t>>> bins;  // bin, bytes in use, bytes, chunks in use, chunks
  std::optional<std::vector<std::uint64_t>> region_order;
  std::optional<std::vector<ChunkRow>> chunk_list;
};

// Where blocks and regions lay, as a trace tells it that the requests were taken from.
struct RecordedPlaces {
  struct Region {
    std::uint64_t operation = 0;  // During which it came or went, from 0; before the first that follows it.
    Claim claim;
    bool is_released = false;
    bool is_expandable = false;
  };
  std::vector<Claim> regions_before;     // That were there before the first event,
  bool is_expandable_before = false;     // one of them at least a part of an expandable segment,
  std::vector<Piece> blocks_before;      // and what lived in them: the first operations ask for these.
  std::vector<std::uint64_t> addresses;  // One an operation; 0: a free, or a request that was refused.
  std::vector<Region> regions;           // By operation.
};

struct RequestStream {
  StreamConfig config;
  std::vector<Operation> operations;
  std::vector<RecordedAnswer> answers;  // One an operation.
  std::vector<Origin> origins;          // One an operation, or none at all.
  std::vector<RecordedEvent> events;    // By operation.
  std::vector<RecordedState> states;    // By operations.
  std::uint32_t slots = 0;

  bool has_answers() const;  // Anything that a replay could be compared with.
};

// By the rules of the version that the stream was made under, unless another is asked for.
xla_gpu::Version version_of(const StreamConfig& config);
xla_gpu::Options options_of(const StreamConfig& config, xla_gpu::Version version);

}  // namespace hbmscope::allocator
