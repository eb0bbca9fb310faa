// The report that XLA logs when a request can't be served, line for line: what people search for and paste into issues.
#pragma once

#include <cstdint>
#include <string>

#include "allocator/xla_gpu/bfc.h"

namespace hbmscope::allocator {

enum class Wording : std::uint8_t {
  jax_0_7_1,    // Raw numbers, no ends.
  august_2026,  // Human sizes, ends and tags, a summary of what would have fitted.
};
// What a version says: classic as jax 0.7.1 did, all later ones as August 2026 did.
Wording wording_of(xla_gpu::Version version);

struct OomLogOptions {
  std::string allocator_name = "GPU_0_bfc";
  Wording wording = Wording::august_2026;
  // Without retries, as PJRT callers that give up at once: a short warning follows the report. JAX retries.
  bool ends_with_warning = true;
};

// Of an allocator that has just refused the request. Lines begin as the log's do, less the time: "W bfc_allocator.cc:".
std::string oom_log(const xla_gpu::Bfc& allocator, const Request& request, const OomLogOptions& options);

}  // namespace hbmscope::allocator
