// Compares every recorded answer of a stream with the answer of the allocator.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "allocator/reference/replay/request_stream.h"

namespace hbmscope::allocator {

struct Difference {
  std::uint32_t line = 0;  // In the file.
  std::string what;        // "the address", "fnv1a", "bin 12, bytes in use"
  std::string recorded, replayed;
};

struct CheckResult {
  std::optional<Difference> difference;  // The first one; no value: everything is equal.
  std::uint64_t answers = 0;             // Requests whose answers were compared.
  std::uint64_t events = 0;              // Compared regions: claimed, refused and released.
  std::uint64_t states = 0;              // Compared snapshots.
  std::uint64_t without_answer = 0;      // Requests without a recorded answer.
  std::set<std::string> unknown_names;   // Names of numbers in snapshots that have no counterpart here.
};

CheckResult check(const RequestStream& stream, const xla_gpu::Options& options);

}  // namespace hbmscope::allocator
