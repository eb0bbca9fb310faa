// Every answer in a recorded stream beside the allocator's own.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "allocator/replay/request_stream.h"

namespace hbmscope::allocator {

struct Difference {
  std::uint32_t line = 0;  // Of the file.
  std::string what;        // "the address", "fnv1a", "bin 12, bytes in use"
  std::string recorded, replayed;
};

struct CheckResult {
  std::optional<Difference> difference;  // The first; nothing: all are equal.
  std::uint64_t answers = 0;             // Requests whose answers were compared,
  std::uint64_t events = 0;              // regions claimed, refused and released,
  std::uint64_t states = 0;              // and snapshots.
  std::uint64_t without_answer = 0;      // Requests for which the file has none.
  std::set<std::string> unknown_names;   // Of numbers in snapshots that nothing is compared with.
};

CheckResult check(const RequestStream& stream, const xla_gpu::Options& options);

}  // namespace hbmscope::allocator
