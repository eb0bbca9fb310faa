// Why a request for memory failed: one cause, how certain it is, and the figures that say so.
//
// The ladder decides: its rungs are tried in order, and the first that holds names the cause. A request of 3 GiB in a
// pool with 5 GiB free, the largest block 1 GiB, passes "larger than the device" and "larger than the limit", and stops
// at "free in total": fragmentation. What else follows from a cause is a row of the table of causes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/reference/replay/verdict.h"
#include "analysis/diagnose/device_budget.h"
#include "analysis/diagnose/engine_account.h"
#include "analysis/query/failure_facts.h"
#include "analysis/query/heap_rows.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

struct Growth;

// What an engine that serves models says of its memory when it starts: how much it may use, and what it has taken
// before its KV cache.
struct EngineBudget {
  std::uint64_t total_bytes = 0, limit_bytes = 0, taken_bytes = 0;
};

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
  held_elsewhere,        // Other processes, or others in this one, hold what is missing.
  driver_refused,        // The driver refused it although enough was free on the device.
  shared_memory,         // A kernel needs more shared memory than a multiprocessor has.
  impossible_size,       // No device has so much: the size is the result of a mistake.
  // Memory grew step by step, and without what is left of earlier steps it would have fit. Outranks all others if that
  // is more than half of what was in use.
  leak,
};
std::string_view text_from_cause(Cause cause);  // "too_big"

// A fact behind the cause, and where it comes from.
struct Evidence {
  std::string text;                   // "The pool has 6.00 GiB, which is its limit."
  std::optional<std::uint64_t> line;  // In the log, from 1.
  std::optional<std::uint64_t> event;
};

// Who allocates, as far as advice differs.
enum class Framework : std::uint8_t {
  unknown,
  jax_gpu,
  tensorflow,
  tpu,
  pytorch,
  pytorch_async,  // With the driver's pool (backend:cudaMallocAsync).
  pytorch_mps,
  pytorch_npu,
  pytorch_xpu,
  rmm,
  kernel,
  vllm,
  sglang,
  ggml,
  paddle,
  tgi,
  named,  // A program or library that has advice of its own (named_advice.cpp).
  library,
  driver_start,  // The driver itself, before a program can request anything.
};

// What the ladder, the sentences and the advice look at.
struct CauseFacts {
  const HeapInfo& heap;
  const FailureRow& row;
  const FailureFacts& figures;
  Framework framework = Framework::unknown;
  std::optional<std::uint64_t> device_bytes = {};  // The whole memory of the device. Absent if unknown.
  // For a leak, the growth of the heap before the failure, and all that was in use. Null if not looked at.
  const Growth* growth = nullptr;
  std::uint64_t held_bytes = 0;
  // Whose pool is on the device, where the log's words say so: of a library that allocates outside of it, too.
  Framework program = Framework::unknown;
  std::optional<HeldElsewhere> elsewhere = {};
  std::optional<EngineBudget> engine = {};
  std::optional<EngineAccount> account = {};  // Of llama.cpp and SGLang, where they have one device.

  // How much more the pool may take from the device by its limit. Absent if unknown.
  std::optional<std::uint64_t> left_to_grow() const;
  // No pool within the limit could have held what was in use and the request, however much of it was free.
  bool is_over_limit() const;
  bool has_xla_pool() const { return framework == Framework::jax_gpu || framework == Framework::tensorflow; }
  // Not of a device that is nearly full, as a text says: the driver can't hand out the last few MiB.
  bool has_device_room() const {
    // Two printed sizes may differ by their rounding.
    const std::uint64_t rounding = row.line ? figures.needed_bytes / 256 : 0;
    return figures.driver_bytes && figures.needed_bytes + rounding <= *figures.driver_bytes && !is_device_full();
  }
  bool is_device_full() const;
  // In use on the device, and not of the pool: contexts, libraries, other processes. Only where it is more than what is
  // missing.
  std::optional<std::uint64_t> outside_of_pool() const;
  // The device has no room, and all but a few percent of the pool is in use, as a text says: what is free in it is the
  // rest of many segments, though it would be enough.
  bool is_all_full() const;
  // What the text of the failure says beyond its figures (trace/failure_details.h); empty if it doesn't.
  std::string_view detail(std::string_view key) const;
  bool is_of_windows() const;
};
// `row` and `figures` must outlive it.
CauseFacts cause_facts_of(const Trace& trace, std::size_t stream, const FailureRow& row, const FailureFacts& figures);

struct Rung {
  std::string_view name;  // "free in total"
  Cause cause;
  bool (*holds)(const CauseFacts& facts);
};
std::span<const Rung> ladder_of_causes();
// Unknown if no rung holds. `skipped`: leaves one rung out, to test that the cause of something depends on it.
Cause cause_of(const CauseFacts& facts, const Rung* skipped = nullptr);

// How certain it is that what earlier steps left is the cause.
enum class Leak : std::uint8_t { none, probable, certain };
Leak leak_of(const CauseFacts& facts);

struct CauseRow {
  Cause cause;
  std::string_view key;    // In JSON: "too_big"
  std::string_view title;  // "Not enough memory"
  std::string (*sentence)(const CauseFacts& facts);
  bool has_blockers;   // Blocks in the pool kept the request out: releasing those in one place makes room.
  bool rests_on_pool;  // It follows from what was free in a pool.
  bool is_provable;    // A replay of the pool's requests shows whether other settings serve the request.
};
std::span<const CauseRow> all_causes();
const CauseRow& row_of(Cause cause);
// What a replay concludes, where it means the same as a cause; else nothing.
std::optional<Cause> cause_from(allocator::ReplayVerdict verdict);

struct CauseOfFailure {
  Cause cause = Cause::unknown;
  Cause immediate = Cause::unknown;  // Why this one request failed, where the cause is a leak; else the same.
  Framework framework = Framework::unknown;
  std::string sentence;            // "Fragmented: requested 2.35 GiB; 5.90 GiB is free in total, but ..."
  std::vector<Evidence> evidence;  // The figures first, then what seems to speak against the cause.
  std::string unknowns;            // What the source can't say and would decide. Empty if there is nothing.
  std::string how_to_know;         // How to get it next time; empty if there are no unknowns.
};

CauseOfFailure find_cause(const CauseFacts& facts);
// What to do before the next time, so that what is unknown now will be known.
std::string how_to_know(const CauseFacts& facts);

}  // namespace hbmscope
