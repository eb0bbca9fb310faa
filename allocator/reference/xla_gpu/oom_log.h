// The report that XLA logs when a request can't be served, line for line. People search for it and paste it into
// issues.
#pragma once

#include <cstdint>
#include <string>

#include "allocator/reference/xla_gpu/bfc.h"

namespace hbmscope::allocator {

// Sizes as XLA's logs print them, for logs that must equal XLA's byte for byte. hbmscope's own output uses
// analysis/units.
std::string xla_human_bytes(std::uint64_t bytes);  // "1023B", "1.5KiB", "38.15MiB"; below 2^63.

enum class Wording : std::uint8_t {
  jax_0_7_1,    // Raw byte counts, no ends.
  august_2026,  // Human-readable sizes, ends and tags, and a summary of what would have fit.
};
// The wording of a version: classic as in jax 0.7.1, all later ones as in August 2026.
Wording wording_of(xla_gpu::Version version);

struct OomLogOptions {
  std::string allocator_name = "GPU_0_bfc";
  Wording wording = Wording::august_2026;
  // As without retries, for PJRT callers that give up at once: a short warning follows the report. JAX retries.
  bool ends_with_warning = true;
};

// The allocator must have just refused the request. Lines begin as in the log, without the time: "W bfc_allocator.cc:".
std::string oom_log(const xla_gpu::Bfc& allocator, const Request& request, const OomLogOptions& options);

}  // namespace hbmscope::allocator
