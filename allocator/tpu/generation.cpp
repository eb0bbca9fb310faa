#include "allocator/tpu/generation.h"

#include <algorithm>
#include <array>

namespace hbmscope::allocator::tpu {
namespace {

constexpr std::uint64_t kib = std::uint64_t{1} << 10;
constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t gib = std::uint64_t{1} << 30;

constexpr Figure compiler(std::uint64_t value) {
  return {value, FigureSource::compiler};
}
constexpr Figure table(std::uint64_t value) {
  return {value, FigureSource::jax_table};
}
constexpr Figure docs(std::uint64_t value) {
  return {value, FigureSource::jax_docs};
}
constexpr Figure unknown{};

// The compiler's texts have two decimals: 7.48G. The totals and reserves they are made of have more: 8.00G - 530.00M.
constexpr std::array generations = {
    Generation{.name = "v2",
               .other_name = {},
               .jax_kind = "TPU v2",
               .devices_per_chip = 2,
               .hbm_total = compiler(8 * gib),
               .hbm_usable = compiler(8 * gib - 530 * mib),
               .hbm_bytes_per_second = table(716'000'000'000),
               .vmem = compiler(16 * mib),
               .vmem_scoped_limit = compiler(16 * mib),
               .smem = compiler(16 * kib),
               .sync_flags = compiler(1 * kib),
               .cmem = table(0),
               .accumulators = unknown,
               .lanes = table(128),
               .sublanes = table(8),
               .sparse_cores = unknown,
               .sparse_subcores = unknown,
               .sparse_subcore_vmem = unknown,
               .rows_least = 2,
               .packs_below_a_byte = false},
    Generation{.name = "v3",
               .other_name = {},
               .jax_kind = "TPU v3",
               .devices_per_chip = 2,
               .hbm_total = compiler(16 * gib),
               .hbm_usable = compiler(16 * gib - 530 * mib),
               .hbm_bytes_per_second = table(825'000'000'000),
               .vmem = compiler(16 * mib),
               .vmem_scoped_limit = compiler(16 * mib),
               .smem = compiler(16 * kib),
               .sync_flags = compiler(1 * kib),
               .cmem = table(0),
               .accumulators = unknown,
               .lanes = table(128),
               .sublanes = table(8),
               .sparse_cores = unknown,
               .sparse_subcores = unknown,
               .sparse_subcore_vmem = unknown,
               .rows_least = 2,
               .packs_below_a_byte = false},
    Generation{.name = "v4",
               .other_name = {},
               .jax_kind = "TPU v4",
               .cores_per_device = 2,
               .is_megacore = true,
               .hbm_total = compiler(32 * gib),
               .hbm_usable = compiler(32 * gib - 1280 * mib),
               .hbm_bytes_per_second = table(1'230'000'000'000),
               .vmem = compiler(16 * mib),
               .vmem_scoped_limit = compiler(16 * mib),
               .smem = compiler(1 * mib),
               .sync_flags = compiler(2 * kib),
               .cmem = table(134'000'000),
               .accumulators = unknown,
               .lanes = table(128),
               .sublanes = table(8),
               .sparse_cores = docs(4),
               .sparse_subcores = docs(16),
               .sparse_subcore_vmem = unknown},
    Generation{.name = "v5e",
               .other_name = {},
               .jax_kind = "TPU v5 lite",
               .hbm_total = compiler(16 * gib),
               .hbm_usable = compiler(16 * gib - 258 * mib),
               .hbm_bytes_per_second = table(820'000'000'000),
               .vmem = compiler(128 * mib),
               .vmem_scoped_limit = compiler(16 * mib),
               .smem = compiler(1 * mib),
               .sync_flags = compiler(2 * kib),
               .cmem = table(0),
               .accumulators = unknown,
               .lanes = table(128),
               .sublanes = table(8),
               .sparse_cores = unknown,
               .sparse_subcores = unknown,
               .sparse_subcore_vmem = unknown},
    Generation{.name = "v5p",
               .other_name = {},
               .jax_kind = "TPU v5",
               .cores_per_device = 2,
               .is_megacore = true,
               .hbm_total = compiler(96 * gib),
               .hbm_usable = compiler(96 * gib - 279 * mib),
               .hbm_bytes_per_second = table(2'460'000'000'000),
               .vmem = compiler(64 * mib),
               .vmem_scoped_limit = compiler(16 * mib),
               .smem = compiler(1 * mib),
               .sync_flags = compiler(2 * kib),
               .cmem = table(0),
               .accumulators = unknown,
               .lanes = table(128),
               .sublanes = table(8),
               .sparse_cores = table(4),
               .sparse_subcores = table(16),
               .sparse_subcore_vmem = table(512 * kib)},
    Generation{.name = "v6e",
               .other_name = {},
               .jax_kind = "TPU v6 lite",
               .hbm_total = compiler(63 * gib / 2),
               .hbm_usable = compiler(63 * gib / 2 - 264 * mib),
               .hbm_bytes_per_second = table(1'640'000'000'000),
               .vmem = compiler(128 * mib),
               .vmem_scoped_limit = compiler(32 * mib),
               .smem = compiler(1 * mib),
               .sync_flags = compiler(2 * kib),
               .cmem = table(0),
               .accumulators = unknown,
               .lanes = table(128),
               .sublanes = table(8),
               .sparse_cores = table(2),
               .sparse_subcores = table(16),
               .sparse_subcore_vmem = table(256 * kib)},
    Generation{.name = "tpu7x",
               .other_name = "v7x",
               .jax_kind = "TPU7x",
               .devices_per_chip = 2,
               .hbm_total = compiler(95 * gib),
               .hbm_usable = compiler(95 * gib - 268 * mib),
               .hbm_bytes_per_second = table(7'400'000'000'000),
               .vmem = compiler(64 * mib),
               .vmem_scoped_limit = compiler(32 * mib),
               .smem = compiler(1 * mib),
               .sync_flags = compiler(16 * kib),
               .cmem = table(0),
               .accumulators = table(2 * mib),
               .lanes = table(128),
               .sublanes = table(8),
               .sparse_cores = table(4),
               .sparse_subcores = table(16),
               .sparse_subcore_vmem = table(512 * kib)},
};

}  // namespace

std::string_view text_from_source(FigureSource source) {
  switch (source) {
    case FigureSource::unknown: return "unknown";
    case FigureSource::compiler: return "compiler";
    case FigureSource::jax_table: return "jax table";
    case FigureSource::jax_docs: return "jax docs";
  }
  return {};
}

std::span<const Generation> all_generations() {
  return generations;
}

const Generation* find_generation(std::string_view name) {
  const auto found = std::find_if(generations.begin(), generations.end(), [&](const Generation& g) {
    return g.name == name || (!g.other_name.empty() && g.other_name == name);
  });
  return found == generations.end() ? nullptr : &*found;
}

}  // namespace hbmscope::allocator::tpu
