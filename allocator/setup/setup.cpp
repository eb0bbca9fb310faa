#include "allocator/setup/setup.h"

#include <fmt/format.h>

#include "allocator/jax/settings.h"

namespace hbmscope::allocator {
namespace {

using Refusal = tl::unexpected<std::string>;

constexpr std::string_view pytorch_conf = "PYTORCH_CUDA_ALLOC_CONF";
constexpr std::string_view jax_allocator = "XLA_PYTHON_CLIENT_ALLOCATOR";

// By PyTorch's one variable.
tl::expected<Setup, std::string> set_up_pytorch(const SetupWords& words) {
  for (const Setting& setting : words.settings)
    if (setting.name != pytorch_conf)
      return Refusal(fmt::format("{} is no setting of PyTorch's allocator; {} is", setting.name, pytorch_conf));
  auto options = pytorch::options_from_conf(find_setting(words.settings, pytorch_conf).value_or(""));
  if (!options) return Refusal(options.error());
  options->device_bytes = words.device_bytes;
  Setup setup;
  setup.options = *options;
  return setup;
}

// JAX's settings may choose the allocator; one that was asked for by name must be the one that they choose.
tl::expected<Setup, std::string> set_up_jax(const SetupWords& words, std::optional<Kind> kind) {
  const auto version = version_named(words.version, xla_gpu::Version::spatial_v1);
  if (!version) return Refusal(version.error());
  std::vector<Setting> settings(words.settings.begin(), words.settings.end());
  const bool is_chosen_by_setting = kind == Kind::platform || kind == Kind::cuda_async || kind == Kind::vmm;
  if (is_chosen_by_setting && !find_setting(settings, jax_allocator))
    settings.push_back({std::string(jax_allocator), std::string(words.allocator)});
  auto memory = kind == Kind::collective    ? collective_memory_from_settings(settings, words.device_bytes, *version)
                : kind == Kind::pinned_host ? pinned_memory_from_settings(settings, words.device_bytes, *version)
                                            : memory_from_settings(settings, words.device_bytes, *version);
  if (!memory) return Refusal(memory.error());
  if (kind && *kind != kind_of(memory->options))
    return Refusal(
        fmt::format("the settings choose {}, and {} was asked for by name", name_of(memory->options), words.allocator));
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
  std::string known;
  for (const AllocatorRow& row : all_allocators()) known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
  return Refusal(fmt::format("there is no allocator '{}' (known: {})", name, known));
}

tl::expected<Setup, std::string> set_up(const SetupWords& words) {
  const auto kind = kind_named(words.allocator);
  if (!kind) return Refusal(kind.error());
  if (words.device_bytes == 0 || words.device_bytes >= std::uint64_t{1} << 60)
    return Refusal("a device has more than 0 bytes and less than 2^60");
  if (*kind != Kind::pytorch && *kind != Kind::naive) return set_up_jax(words, *kind);
  if (!words.version.empty()) return Refusal("only JAX's allocators have versions here");
  Setup setup;
  if (*kind == Kind::naive) {
    if (!words.settings.empty()) return Refusal("naive has no settings");
    setup.options = first_fit::Options{words.device_bytes};
  } else {
    auto pytorch = set_up_pytorch(words);
    if (!pytorch) return pytorch;
    setup = std::move(*pytorch);
  }
  setup.upstream.device_bytes = words.device_bytes;
  return setup;
}

}  // namespace hbmscope::allocator
