#include "allocator/catalog/catalog.h"

#include <algorithm>
#include <array>
#include <type_traits>

namespace hbmscope::allocator {
namespace {

constexpr std::array<AllocatorRow, 8> rows = {{
    {Kind::xla_gpu, "xla_gpu", "what JAX has on GPUs: XLA's best fit with coalescing, in all its versions"},
    {Kind::platform, "platform", "JAX's platform allocator: each request and each free is a call to the driver"},
    {Kind::cuda_async, "cuda_async", "the driver's own pool, as cudaMallocAsync has it"},
    {Kind::pytorch, "pytorch", "PyTorch's caching allocator for CUDA"},
    {Kind::naive, "naive", "first fit in one region, to compare with"},
    {Kind::vmm, "vmm", "JAX's vmm allocator: memory and addresses of its own for each buffer, kept for its size"},
    {Kind::collective, "collective", "JAX's pool for collective memory, where it has one of its own"},
    {Kind::pinned_host, "pinned_host", "JAX's pool of pinned memory of the host"},
}};

}  // namespace

std::span<const AllocatorRow> all_allocators() {
  return rows;
}

std::optional<Kind> find_allocator(std::string_view name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const AllocatorRow& row) { return row.name == name; });
  if (found == rows.end()) return {};
  return found->kind;
}

Kind kind_of(const AllocatorOptions& options) {
  const auto* xla = std::get_if<xla_gpu::Options>(&options);
  if (xla != nullptr && xla->pool == xla_gpu::Pool::collective) return Kind::collective;
  if (xla != nullptr && xla->pool == xla_gpu::Pool::pinned_host) return Kind::pinned_host;
  return static_cast<Kind>(options.index());
}

std::string_view name_of(const AllocatorOptions& options) {
  return rows[static_cast<std::size_t>(kind_of(options))].name;
}

Certainty certainty_of(const AllocatorOptions& options) {
  switch (kind_of(options)) {
    case Kind::xla_gpu:
    case Kind::collective:
    case Kind::pinned_host: return xla_gpu::rules_of(std::get<xla_gpu::Options>(options).version).certainty;
    case Kind::platform: return platform::certainty;
    case Kind::cuda_async: return cuda_async::certainty;
    case Kind::pytorch: return pytorch::certainty;
    case Kind::naive: return first_fit::certainty;
    case Kind::vmm: return vmm::certainty;
  }
  return Certainty::unverified;
}

std::string pool_name_of(const AllocatorOptions& options, std::uint32_t device) {
  switch (kind_of(options)) {
    case Kind::xla_gpu: return "GPU_" + std::to_string(device) + "_bfc";
    case Kind::collective: return "GPU_collectivememory_" + std::to_string(device) + "_bfc";
    case Kind::pinned_host: return "xla_gpu_host_bfc";
    default: return "GPU_" + std::to_string(device) + "_" + std::string(name_of(options));
  }
}

std::string_view memory_kind_of(const AllocatorOptions& options) {
  return kind_of(options) == Kind::pinned_host ? "host_pinned" : "device";
}

bool needs_reserved_addresses(const AllocatorOptions& options) {
  const auto* pytorch = std::get_if<pytorch::Options>(&options);
  return kind_of(options) == Kind::vmm || (pytorch != nullptr && pytorch->expandable_segments);
}

std::unique_ptr<Allocator> make_allocator(const AllocatorOptions& options, Upstream& upstream) {
  return std::visit(
      [&](const auto& of_kind) -> std::unique_ptr<Allocator> {
        using Options = std::decay_t<decltype(of_kind)>;
        if constexpr (std::is_same_v<Options, xla_gpu::Options>)
          return std::make_unique<xla_gpu::Bfc>(upstream, of_kind);
        else if constexpr (std::is_same_v<Options, platform::Options>)
          return std::make_unique<platform::Platform>(upstream, of_kind);
        else if constexpr (std::is_same_v<Options, cuda_async::Options>)
          return std::make_unique<cuda_async::CudaAsync>(upstream, of_kind);
        else if constexpr (std::is_same_v<Options, pytorch::Options>)
          return std::make_unique<pytorch::CachingAllocator>(upstream, of_kind);
        else if constexpr (std::is_same_v<Options, vmm::Options>)
          return std::make_unique<vmm::Vmm>(upstream, of_kind);
        else
          return std::make_unique<first_fit::FirstFit>(upstream, of_kind);
      },
      options);
}

}  // namespace hbmscope::allocator
