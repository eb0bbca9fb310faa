#include "allocator/reference/catalog/setup.h"

#include <fmt/format.h>

#include "allocator/reference/catalog/jax_settings.h"

namespace hbmscope::allocator {
namespace {

using Refusal = tl::unexpected<std::string>;

constexpr std::string_view jax_allocator = "XLA_PYTHON_CLIENT_ALLOCATOR";

// Configures an allocator from its one variable, if it has one.
tl::expected<Setup, std::string> set_up_by_variable(const SetupWords& words, const AllocatorRow& row) {
  if (row.variable.empty() && !words.settings.empty()) return Refusal(fmt::format("{} has no settings", row.name));
  for (const Setting& setting : words.settings)
    if (setting.name != row.variable)
      return Refusal(fmt::format("{} is no setting of {}; {} is", setting.name, row.name, row.variable));
  Setup setup;
  setup.upstream.device_bytes = words.device_bytes;
  if (row.options_from_variable == nullptr) {
    setup.options = row.options_from_size({words.device_bytes, words.device_bytes, false});
    return setup;
  }
  auto options = row.options_from_variable(find_setting(words.settings, row.variable).value_or(""), words.device_bytes);
  if (!options) return Refusal(options.error());
  setup.options = std::move(*options);
  return setup;
}

// JAX's settings may choose the allocator. If one was requested by name, the settings must choose the same.
tl::expected<Setup, std::string> set_up_jax(const SetupWords& words, std::optional<Kind> kind) {
  const auto version = version_named(words.version, xla_gpu::newest_version);
  if (!version) return Refusal(version.error());
  std::vector<Setting> settings(words.settings.begin(), words.settings.end());
  const std::string_view chosen = kind ? row_of(*kind).jax_setting : std::string_view();
  if (!chosen.empty() && !find_setting(settings, jax_allocator))
    settings.push_back({std::string(jax_allocator), std::string(chosen)});
  auto memory = kind == Kind::collective    ? collective_memory_from_settings(settings, words.device_bytes, *version)
                : kind == Kind::pinned_host ? pinned_memory_from_settings(settings, words.device_bytes, *version)
                                            : memory_from_settings(settings, words.device_bytes, *version);
  if (!memory) return Refusal(memory.error());
  if (kind && *kind != kind_of(memory->options))
    return Refusal(
        fmt::format("the settings choose {}, but --allocator names {}", name_of(memory->options), words.allocator));
  Setup setup;
  setup.options = std::move(memory->options);
  setup.upstream.granularity = memory->granularity;
  setup.upstream.device_bytes = words.device_bytes;
  if (memory->is_unified) setup.upstream.device_bytes.reset();
  setup.collective_limit_bytes = memory->collective_limit_bytes;
  setup.is_collective_preallocated = memory->is_collective_preallocated;
  setup.notes = std::move(memory->notes);
  return setup;
}

}  // namespace

tl::expected<xla_gpu::Version, std::string> version_named(std::string_view name, xla_gpu::Version usual) {
  if (name.empty()) return usual;
  if (const auto found = xla_gpu::find_version(name)) return *found;
  std::string known;
  for (const xla_gpu::VersionRules& rules : xla_gpu::all_versions())
    known += fmt::format("{}{}", known.empty() ? "" : ", ", rules.name);
  return Refusal(fmt::format("there is no version '{}' (known: {})", name, known));
}

tl::expected<std::optional<Kind>, std::string> kind_named(std::string_view name) {
  if (name.empty()) return std::optional<Kind>();
  if (const auto found = find_allocator(name)) return std::optional(*found);
  return Refusal(fmt::format("there is no allocator '{}' (known: {})", name, text_from_allocators()));
}

tl::expected<Setup, std::string> set_up(const SetupWords& words) {
  const auto kind = kind_named(words.allocator);
  if (!kind) return Refusal(kind.error());
  if (words.device_bytes == 0 || words.device_bytes >= std::uint64_t{1} << 60)
    return Refusal("a device has more than 0 bytes and less than 2^60");
  if (!*kind || row_of(**kind).is_of_jax) return set_up_jax(words, *kind);
  if (!words.version.empty()) return Refusal("only JAX's allocators have versions here");
  return set_up_by_variable(words, row_of(**kind));
}

}  // namespace hbmscope::allocator
