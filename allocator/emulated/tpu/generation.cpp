#include "allocator/emulated/tpu/generation.h"

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
constexpr Figure main_table(std::uint64_t value) {
  return {value, FigureSource::jax_main};
}
constexpr Figure unknown{};

// The compiler's texts have two decimals: 7.48G. The totals and reserves behind them are exact: 8.00G - 530.00M.
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
               .packs_below_a_byte = false,
               .allocation_bytes = 1024,
               .tuple_table_bytes = 1024,
               .smallest_topology = "1x1"},
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
               .packs_below_a_byte = false,
               .allocation_bytes = 1024,
               .tuple_table_bytes = 1024,
               .smallest_topology = "2x2"},
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
               .sparse_subcore_vmem = unknown,
               .smallest_topology = "2x2x1"},
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
               .sparse_subcore_vmem = unknown,
               .smallest_topology = "2x2"},
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
               .sparse_subcore_vmem = table(512 * kib),
               .tuple_table_bytes = 32,
               .smallest_topology = "2x2x1"},
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
               .sparse_subcore_vmem = table(256 * kib),
               .tuple_table_bytes = 32,
               .smallest_topology = "2x2"},
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
               .sparse_subcore_vmem = table(512 * kib),
               .tuple_table_bytes = 32,
               .smallest_topology = "2x2x1"},
    // libtpu 0.0.51 knows neither of these two: no limits, no layouts.
    Generation{.name = "8i",
               .other_name = "tpu8i",
               .jax_kind = "TPU8i",
               .devices_per_chip = 2,
               .hbm_total = table(154'500'000'000),
               .hbm_usable = unknown,
               .hbm_bytes_per_second = table(8'600'000'000'000),
               .vmem = table(192 * mib),
               .vmem_scoped_limit = unknown,
               .smem = table(1 * mib),
               .sync_flags = unknown,
               .cmem = table(0),
               .accumulators = table(4 * mib),
               .lanes = table(128),
               .sublanes = table(8),
               .sparse_cores = unknown,
               .sparse_subcores = table(4),
               .sparse_subcore_vmem = table(512 * kib),
               .rows_least = 0},
    Generation{.name = "8t",
               .other_name = "tpu8t",
               .jax_kind = "TPU8t",
               .hbm_total = main_table(231'000'000'000),
               .hbm_usable = unknown,
               .hbm_bytes_per_second = main_table(6'400'000'000'000),
               .vmem = main_table(128 * mib),
               .vmem_scoped_limit = unknown,
               .smem = main_table(1 * mib),
               .sync_flags = unknown,
               .cmem = main_table(0),
               .accumulators = unknown,  // A comment in the table itself doubts this figure.
               .lanes = main_table(128),
               .sublanes = main_table(16),
               .sparse_cores = main_table(2),
               .sparse_subcores = main_table(16),
               .sparse_subcore_vmem = main_table(256 * kib),
               .rows_least = 0},
};
constexpr auto has_layouts = [](const Generation& each) { return each.has_layouts(); };
static_assert(std::is_partitioned(generations.begin(), generations.end(), has_layouts), "rows with layouts come first");
constexpr std::size_t laid_out = std::count_if(generations.begin(), generations.end(), has_layouts);

}  // namespace

std::string_view text_from_source(FigureSource source) {
  switch (source) {
    case FigureSource::unknown: return "unknown";
    case FigureSource::compiler: return "compiler";
    case FigureSource::jax_table: return "jax table";
    case FigureSource::jax_docs: return "jax docs";
    case FigureSource::jax_main: return "jax main";
  }
  return {};
}

std::span<const Generation> all_generations() {
  return listed_generations().first(laid_out);
}

std::span<const Generation> listed_generations() {
  return generations;
}

const Generation& default_generation() {
  return *find_generation("v5e");
}

std::string text_from_generations() {
  std::string text;
  for (const Generation& each : all_generations()) {
    if (!text.empty()) text += &each == &all_generations().back() ? " or " : ", ";
    text += each.name;
  }
  return text;
}

std::string text_from_topologies() {
  std::string text;
  for (const Generation& each : all_generations())
    text += (text.empty() ? "" : ", ") + std::string(each.name) + ":" + std::string(each.smallest_topology);
  return text;
}

namespace {

// Case-insensitive: people write V5E.
bool is_called(std::string_view name, std::string_view text) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return !name.empty() && std::equal(name.begin(), name.end(), text.begin(), text.end(),
                                     [&](char a, char b) { return small(a) == small(b); });
}

const Generation* find_among(std::span<const Generation> list, std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Generation& g) {
    return is_called(g.name, name) || is_called(g.other_name, name);
  });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

const Generation* find_generation(std::string_view name) {
  return find_among(all_generations(), name);
}

NoGeneration why_no_generation(std::string_view name) {
  std::string known;
  for (const Generation& each : all_generations()) known += " " + std::string(each.name);
  if (const Generation* listed = find_among(listed_generations(), name))
    return {"only the memories of TPU " + std::string(listed->name) + " are published, not its layouts and limits",
            "hbmscope tpu generations prints its figures. Layouts are known for" + known + "."};
  return {"there is no TPU generation '" + std::string(name) + "'", "Known:" + known + "."};
}

}  // namespace hbmscope::allocator::tpu
