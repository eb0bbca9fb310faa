#include "allocator/catalog/catalog.h"

#include <algorithm>
#include <array>
#include <type_traits>

namespace hbmscope::allocator {
namespace {

constexpr std::array<AllocatorRow, 5> rows = {{
    {Kind::xla_gpu, "xla_gpu", "what JAX has on GPUs: XLA's best fit with coalescing, in all its versions"},
    {Kind::platform, "platform", "JAX's platform allocator: each request and each free is a call to the driver"},
    {Kind::cuda_async, "cuda_async", "the driver's own pool, as cudaMallocAsync has it"},
    {Kind::pytorch, "pytorch", "PyTorch's caching allocator for CUDA"},
    {Kind::naive, "naive", "first fit in one region, to compare with"},
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
  return static_cast<Kind>(options.index());
}

std::string_view name_of(const AllocatorOptions& options) {
  return rows[options.index()].name;
}

Certainty certainty_of(const AllocatorOptions& options) {
  switch (kind_of(options)) {
    case Kind::xla_gpu: return xla_gpu::rules_of(std::get<xla_gpu::Options>(options).version).certainty;
    case Kind::platform: return platform::certainty;
    case Kind::cuda_async: return cuda_async::certainty;
    case Kind::pytorch: return pytorch::certainty;
    case Kind::naive: return first_fit::certainty;
  }
  return Certainty::unverified;
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
        else
          return std::make_unique<first_fit::FirstFit>(upstream, of_kind);
      },
      options);
}

}  // namespace hbmscope::allocator
