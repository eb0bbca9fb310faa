#include "allocator/reference/catalog/catalog.h"

#include <algorithm>
#include <array>

namespace hbmscope::allocator {
namespace {

// Makes an allocator of class A from its options O.
template <class A, class O>
std::unique_ptr<Allocator> made(const AllocatorOptions& options, Upstream& upstream) {
  return std::make_unique<A>(upstream, std::get<O>(options));
}
template <Certainty of>
Certainty always(const AllocatorOptions&) {
  return of;
}
template <class O>
std::optional<std::uint64_t> limit(const AllocatorOptions& options) {
  return std::get<O>(options).limit_bytes;
}
template <class O>
AllocatorOptions options_with_limit(const PoolSize& size) {
  O options;
  options.limit_bytes = size.limit_bytes;
  return options;
}

Certainty certainty_of_version(const AllocatorOptions& options) {
  return xla_gpu::rules_of(std::get<xla_gpu::Options>(options).version).certainty;
}

// The three pools of JAX that follow XLA's rules differ only in their purpose.
constexpr AllocatorRow bfc_row(Kind kind, std::string_view name, std::string_view what, std::string_view pool_name,
                               std::string_view memory_kind) {
  return {.kind = kind,
          .name = name,
          .what = what,
          .certainty = certainty_of_version,
          .make = made<xla_gpu::Bfc, xla_gpu::Options>,
          .is_of_jax = true,
          .limit_bytes = limit<xla_gpu::Options>,
          .pool_name = pool_name,
          .memory_kind = memory_kind};
}

constexpr std::array<AllocatorRow, 8> rows = {{
    bfc_row(Kind::xla_gpu, "xla_gpu", "what JAX has on GPUs: XLA's best fit with coalescing, in all its versions",
            "GPU_#_bfc", "device"),
    {.kind = Kind::platform,
     .name = "platform",
     .what = "JAX's platform allocator: each request and each free is a call to the driver",
     .certainty = always<platform::certainty>,
     .make = made<platform::Platform, platform::Options>,
     .is_of_jax = true,
     .jax_setting = "platform",
     .options_from_size = [](const PoolSize&) { return AllocatorOptions(platform::Options{}); }},
    {.kind = Kind::cuda_async,
     .name = "cuda_async",
     .what = "the driver's own pool, as cudaMallocAsync has it",
     .certainty = always<cuda_async::certainty>,
     .make = made<cuda_async::CudaAsync, cuda_async::Options>,
     .is_of_jax = true,
     .jax_setting = "cuda_async",
     .options_from_size =
         [](const PoolSize& size) {
           cuda_async::Options options;
           options.release_threshold_bytes = size.limit_bytes;
           options.reserved_bytes = size.allow_growth ? 0 : size.limit_bytes;
           return AllocatorOptions(options);
         }},
    {.kind = Kind::pytorch,
     .name = "pytorch",
     .what = "PyTorch's caching allocator for CUDA",
     .certainty = always<pytorch::certainty>,
     .make = made<pytorch::CachingAllocator, pytorch::Options>,
     .variable = "PYTORCH_CUDA_ALLOC_CONF",
     .options_from_variable = [](std::string_view value,
                                 std::uint64_t device_bytes) -> tl::expected<AllocatorOptions, std::string> {
       auto options = pytorch::options_from_conf(value);
       if (!options) return tl::unexpected(options.error());
       options->device_bytes = device_bytes;
       return *options;
     },
     .options_from_size =
         [](const PoolSize& size) {
           pytorch::Options options;
           options.device_bytes = size.device_bytes;
           return AllocatorOptions(options);
         },
     .reserving =
         [](const AllocatorOptions& options) {
           const bool needs = std::get<pytorch::Options>(options).expandable_segments;
           return std::string_view(needs ? "expandable segments need" : "");
         }},
    {.kind = Kind::naive,
     .name = "naive",
     .what = "first fit in one region, to compare with",
     .certainty = always<first_fit::certainty>,
     .make = made<first_fit::FirstFit, first_fit::Options>,
     .options_from_size = options_with_limit<first_fit::Options>,
     .limit_bytes = limit<first_fit::Options>},
    {.kind = Kind::vmm,
     .name = "vmm",
     .what = "JAX's vmm allocator: memory and addresses of its own for each buffer, kept for its size",
     .certainty = always<vmm::certainty>,
     .make = made<vmm::Vmm, vmm::Options>,
     .is_of_jax = true,
     .jax_setting = "vmm",
     .options_from_size = options_with_limit<vmm::Options>,
     .limit_bytes = limit<vmm::Options>,
     .reserving = [](const AllocatorOptions&) { return std::string_view("vmm needs"); }},
    bfc_row(Kind::collective, "collective", "JAX's pool for collective memory, where it has one of its own",
            "GPU_collectivememory_#_bfc", "device"),
    bfc_row(Kind::pinned_host, "pinned_host", "JAX's pool of pinned memory of the host", "xla_gpu_host_bfc",
            "host_pinned"),
}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (static_cast<std::size_t>(rows[i].kind) != i) return false;
  return true;
}
static_assert(is_in_order(), "rows are in the order of Kind");

}  // namespace

std::span<const AllocatorRow> all_allocators() {
  return rows;
}

const AllocatorRow& row_of(Kind kind) {
  return rows[static_cast<std::size_t>(kind)];
}

const AllocatorRow& row_of(const AllocatorOptions& options) {
  return row_of(kind_of(options));
}

std::optional<Kind> find_allocator(std::string_view name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const AllocatorRow& row) { return row.name == name; });
  if (found == rows.end()) return {};
  return found->kind;
}

std::string text_from_allocators() {
  std::string text;
  for (const AllocatorRow& row : rows) {
    if (!text.empty()) text += &row == &rows.back() ? " or " : ", ";
    text += row.name;
  }
  return text;
}

Kind kind_of(const AllocatorOptions& options) {
  const auto* xla = std::get_if<xla_gpu::Options>(&options);
  if (xla != nullptr && xla->pool == xla_gpu::Pool::collective) return Kind::collective;
  if (xla != nullptr && xla->pool == xla_gpu::Pool::pinned_host) return Kind::pinned_host;
  return static_cast<Kind>(options.index());
}

std::string_view name_of(const AllocatorOptions& options) {
  return row_of(options).name;
}

Certainty certainty_of(const AllocatorOptions& options) {
  return row_of(options).certainty(options);
}

std::string pool_name_of(const AllocatorOptions& options, std::uint32_t device) {
  const AllocatorRow& row = row_of(options);
  std::string name = row.pool_name.empty() ? "GPU_#_" + std::string(row.name) : std::string(row.pool_name);
  if (const std::size_t at = name.find('#'); at != std::string::npos) name.replace(at, 1, std::to_string(device));
  return name;
}

std::unique_ptr<Allocator> make_allocator(const AllocatorOptions& options, Upstream& upstream) {
  return row_of(options).make(options, upstream);
}

}  // namespace hbmscope::allocator
