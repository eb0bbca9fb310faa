// Why a request for memory failed: one cause, how certain it is, and the figures that say so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/failure_facts.h"
#include "analysis/query/heap_rows.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

enum class Cause : std::uint8_t {
  unknown,               // A figure that decides is unknown.
  too_big,               // More than the limit, the device, or everything that was free.
  pool_limit,            // The pool was full at its limit, which is below what the device has.
  fragmentation,         // Enough was free in the pool, but in blocks that are all too small.
  cannot_grow,           // The pool may grow, but the device has no room; or the rest is split between both.
  wrong_end,             // A free block is large enough, but belongs to the other end of a pool with two ends.
  alignment,             // A free block is large enough for the requested bytes, but not for what they are rounded to.
  compile_time,          // A compiler found that the program doesn't fit; nothing ran.
  outside_pool_starved,  // A library that allocates outside the framework's pool found too little memory there.
  host_memory,           // Memory of the host, not of a device.
  // Memory grew step by step, and without what is left of earlier steps it would have fit. Outranks all others if that
  // is more than half of what was in use.
  leak,
};
std::string_view text_from_cause(Cause cause);  // "too_big"

// A fact behind the cause, and where it comes from.
struct Evidence {
  std::string text;                   // "The pool has 6.00 GiB, which is its limit."
  std::optional<std::uint64_t> line;  // Of the log, from 1.
  std::optional<std::uint64_t> event;
};

// Who allocates, as far as advice differs.
enum class Framework : std::uint8_t { unknown, jax_gpu, tensorflow, tpu, pytorch, rmm, triton, vllm, sglang, library };

struct CauseOfFailure {
  Cause cause = Cause::unknown;
  Cause immediate = Cause::unknown;  // Of this one request, where the cause is a leak; else the same.
  Framework framework = Framework::unknown;
  std::string sentence;            // "Fragmented: requested 2.35 GiB; 5.90 GiB is free in total, but ..."
  std::vector<Evidence> evidence;  // The figures first, then what seems to speak against the cause.
  std::string unknowns;            // What the source can't say and would decide; empty: nothing.
  std::string how_to_know;         // How to get it next time; empty if there are no unknowns.
};

// `row` and `facts` of the out-of-memory failures()[index] of the stream.
CauseOfFailure find_cause(const Trace& trace, std::size_t stream, const FailureRow& row, const FailureFacts& facts);

}  // namespace hbmscope
