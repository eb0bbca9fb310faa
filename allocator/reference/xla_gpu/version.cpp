#include "allocator/reference/xla_gpu/version.h"

#include <algorithm>
#include <array>

namespace hbmscope::allocator::xla_gpu {
namespace {

constexpr SpacePolicy by_the_rule = {};  // The lower end, lowest of equals, splits only if the rule says so.

constexpr std::array<VersionRules, 5> rules = {{
    {Version::classic, "classic", Certainty::exact, false, false, by_the_rule, by_the_rule},
    {Version::classic_align, "classic_align", Certainty::exact, true, false, by_the_rule, by_the_rule},
    {Version::spatial_v1, "spatial_v1", Certainty::exact, true, true, by_the_rule, {Tag::upper, false, true, true}},
    {Version::spatial_v2,
     "spatial_v2",
     Certainty::reconstructed,
     true,
     true,
     {Tag::lower, false, false, true},
     {Tag::upper, false, false, true}},
    {Version::spatial_v3,
     "spatial_v3",
     Certainty::checked,
     true,
     true,
     {Tag::upper, true, false, false},
     {Tag::lower, false, true, true}},
}};

}  // namespace

std::span<const VersionRules> all_versions() {
  return rules;
}

const VersionRules& rules_of(Version version) {
  return rules[static_cast<std::size_t>(version)];
}

std::optional<Version> find_version(std::string_view name) {
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const VersionRules& row) { return row.name == name; });
  if (found == rules.end()) return {};
  return found->version;
}

}  // namespace hbmscope::allocator::xla_gpu
