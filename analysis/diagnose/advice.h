// Changes that would help: what to paste or do, why, its price, and whether it is certain that it helps. One type for
// requests that failed, programs that do not fit, and emulated workloads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/diagnose/cause.h"
#include "analysis/diagnose/holders.h"

namespace hbmscope {

enum class AdviceProof : std::uint8_t {
  replayed,  // The job's requests were replayed under this setting: Advice::fits says what came of it (proof.h).
  computed,  // Follows from the figures of the failure.
  rule,      // Follows from a rule of the allocator; whether it is enough depends on what the job requests then.
  compiler,  // The compiler reported the figures.
  emulated,  // The workload was emulated with the change.
  assumed,   // Assumes that the memory divides or shrinks accordingly.
};
std::string_view text_from_proof(AdviceProof proof);  // "replayed"

// For JAX's pool; more leaves the driver and the libraries too little.
inline constexpr double fraction_max = 0.95;

struct Advice {
  std::string change;  // What to paste or do: "XLA_PYTHON_CLIENT_MEM_FRACTION=0.86"
  std::string why;     // A whole sentence, with figures.
  std::string price;   // A whole sentence. Empty if none is known.
  AdviceProof proof = AdviceProof::rule;
  std::string key = {};  // The key of the table's row, "donation", or a workload's parameter, "mesh.fsdp=16".
  // The settings, for a replay (whatif/scenario.h): "XLA_PYTHON_CLIENT_MEM_FRACTION=0.86". Empty if it is no setting.
  std::string words = {};
  std::string proof_text = {};  // What the replay showed: a whole sentence. Empty if there was none.
  std::optional<bool> fits =
      {};                       // Whether the replay served all requests up to the failed one. Absent: there was none.
  bool is_approximate = false;  // The replay: its allocator's rules are not known exactly.
  // What is left at most for later requests, once this one is served. Absent if unknown.
  std::optional<std::uint64_t> room_bytes = {};
  std::optional<std::uint64_t> steps_at_most = {};  // For a leak: how many more steps that room is enough for.
  // For a program: whether it fits with this change alone, and what is to spare then (negative: over; absent: it
  // depends).
  bool suffices = false;
  std::optional<std::int64_t> spare_bytes = {};
};
// What a reader must know before following it: "fits, replayed", "one more step at most". Empty if there is nothing.
std::string mark_of(const Advice& advice);

// What the advice on a failed request looks at.
struct AdviceFacts {
  const Stream& stream;
  const CauseFacts& failed;
  Cause cause;
  const Holders& holders;
};

// One row of the table of advice. It applies to its frameworks and causes, unless `fill` says no.
struct AdviceRow {
  std::string_view key;
  std::uint32_t frameworks, causes;  // Sets of bits.
  std::string_view change, why, price;
  AdviceProof proof;
  // A setting that a replay can try, so that it becomes `replayed`. At most it makes all use of what is free, which is
  // its room.
  bool is_setting;
  // Puts the figures of the failure into the words; false: it doesn't apply. Null if it applies as it is.
  bool (*fill)(const AdviceFacts& facts, Advice& advice);
};
// The order of the table is that of the advice: the most certain and cheapest first.
std::span<const AdviceRow> all_advice();
// For a text that says too little for any of them.
Advice general_advice(const AdviceFacts& facts);
// The row of that key, which must exist: its words, for programs that do not fit (program_advice.h).
const AdviceRow& advice_row(std::string_view key);

// What is left once the request is served, from all that is free in the pool and on the device and `more`. Where the
// device does not say what is free, it is what the limit leaves.
std::optional<std::uint64_t> room_with(const AdviceFacts& facts, std::uint64_t more);

std::vector<Advice> find_advice(const AdviceFacts& facts);
// The price of a larger pool: "It leaves 4.00 GiB outside the pool, for cuBLAS, ..."
std::string text_from_left_outside(double bytes);

}  // namespace hbmscope
