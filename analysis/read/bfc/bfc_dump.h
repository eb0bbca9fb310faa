// The state of a BFC allocator (XLA, JAX, TensorFlow) at the moment of a failure, as its log or its MemoryDump reports
// it. Both kinds may be incomplete; absent figures are unknown, never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/read/word_cursor.h"

namespace hbmscope::bfc {

enum class End : std::uint8_t { unknown, lower, upper, gap };

struct Chunk {
  std::uint64_t address = 0, size = 0;
  std::optional<std::uint64_t> requested;  // Only of chunks in use, and only in MemoryDumps.
  std::uint32_t op = 0;                    // Index in Dump::ops, or 0.
  bool is_in_use = false;
  End end = End::unknown;
};

// Memory that the pool claimed at once, with its chunks in address order.
struct Region {
  std::optional<std::uint64_t> size;  // As reported; absent: a MemoryDump, or the line is missing.
  std::vector<Chunk> chunks;

  std::uint64_t listed_bytes() const;  // The sum of its chunks.
};

// All chunks with at least `size` bytes and less than those of the next bin.
struct Bin {
  std::uint64_t size = 0, chunks = 0, chunks_in_use = 0;
  MaybeBytes bytes, in_use, requested;
};

struct Dump {
  std::string allocator;  // "GPU_0_bfc", unless it is cut off.
  std::string headline;   // The warning, on one line, unless it is cut off.
  std::string op;         // The operation that made the request; often empty.
  MaybeBytes requested;   // As printed.
  std::optional<std::uint64_t> rounded;
  End end = End::unknown;            // The request's, in a pool with two ends.
  bool is_performance_note = false;  // "The caller indicates that this is not a failure".

  std::vector<Bin> bins;
  std::vector<PrintedBytes> free_in_bin;  // Free chunks of the request's bin.
  std::vector<Region> regions;
  std::vector<std::string> ops = {{}};
  std::optional<PrintedBytes> in_use_sum;                         // "Sum Total of in-use chunks".
  MaybeBytes pool, limit, unallocated, total_free, largest_free;  // The summary line.
  MaybeBytes in_use, peak_in_use, largest_allocation;             // "Stats:".
  std::optional<std::uint64_t> allocations;
  bool has_list_begin = true;  // False: the list begins inside a region.
  bool has_list_end = false;   // The line that follows the list of chunks was seen.
  bool is_finished = false;    // Its last line was seen.

  std::uint64_t line = 0, byte = 0;  // Where its first line is in the log. Lines count from 1, and 0 is not from a log.

  // As the statistics say it, or else the sum.
  MaybeBytes reported_in_use() const { return in_use ? in_use : MaybeBytes(in_use_sum); }
  // Every region is listed from its begin to its end.
  bool has_all_chunks() const;
};

}  // namespace hbmscope::bfc
