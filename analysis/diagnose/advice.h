// Changes that would have helped a request that failed: in words to paste, with their price, and whether it is certain
// that they help.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/diagnose/cause.h"
#include "analysis/diagnose/holders.h"

namespace hbmscope {

enum class AdviceProof : std::uint8_t {
  replayed,  // The job's requests were replayed under this setting, and all of them were served (proof.h).
  computed,  // Follows from the figures of the failure.
  rule,      // Follows from a rule of the allocator; whether it is enough depends on what the job requests then.
};
std::string_view text_from_proof(AdviceProof proof);  // "replayed"

// Of JAX's pool; more leaves the driver and the libraries too little.
inline constexpr double fraction_max = 0.95;

struct Advice {
  std::string change;  // What to paste or do: "XLA_PYTHON_CLIENT_MEM_FRACTION=0.86"
  std::string why;     // A whole sentence, with figures.
  std::string price;   // A whole sentence; empty: none is known.
  AdviceProof proof = AdviceProof::rule;
  // The settings, for a replay (whatif/scenario.h): "XLA_PYTHON_CLIENT_MEM_FRACTION=0.86"; empty: it is no setting.
  std::string words;
  std::string proof_text;  // What the replay showed: a whole sentence; empty: there was none.
  // What is left at most for later requests, once this one is served; absent: unknown.
  std::optional<std::uint64_t> room_bytes;
  std::optional<std::uint64_t> steps_at_most;  // Of a leak: how many more steps that room is enough for.
};
// What a reader must know before following it: "may not be enough", "one more step at most"; empty: nothing.
std::string_view mark_of(const Advice& advice);

// The most certain and cheapest first. Sources of the rules: jaxlib's xla_client.py (variables of JAX on GPUs),
// xla/tsl/framework/bfc_allocator.cc, PyTorch's CUDA memory notes and c10/cuda/CUDAAllocatorConfig.h.
std::vector<Advice> find_advice(const Trace& trace, std::size_t stream, const CauseOfFailure& cause,
                                const FailureRow& row, const FailureFacts& facts, const Holders& holders);

}  // namespace hbmscope
