// The versions of BFC. XLA's allocator had four behaviours within one year, and a fifth is proposed; the same requests
// get different addresses in each. A version here is a set of rules; the table in allocator/README.md lists the jax
// releases of each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "allocator/reference/interface/allocator.h"

namespace hbmscope::allocator::xla_gpu {

enum class Version : std::uint8_t {  // The newest one last.
  classic,                           // Alignment is ignored.
  classic_align,                     // Alignment above 256 B is honoured, leaving a hole before the chunk.
  spatial_v1,                        // One arena with two ends and a gap between them.
  spatial_v2,                        // Blocks from the gap are always exact; upper holes follow the split rule.
  spatial_v3,                        // Default memory at the upper end.
};

enum class Tag : std::uint8_t { lower, gap, upper };

// How a memory space is served.
struct SpacePolicy {
  Tag end = Tag::lower;
  bool takes_highest_of_equals = false;  // Chooses the highest address among equally large holes.
  bool splits_holes_exactly = false;     // False: only if the split rule says so.
  bool splits_gap_exactly = false;
};

struct VersionRules {
  Version version;
  std::string_view name;
  Certainty certainty;
  bool honours_alignment;
  bool is_spatial;
  SpacePolicy default_memory, collective_memory;
};

std::span<const VersionRules> all_versions();
inline constexpr Version newest_version = Version::spatial_v3;
const VersionRules& rules_of(Version version);
std::optional<Version> find_version(std::string_view name);

}  // namespace hbmscope::allocator::xla_gpu
