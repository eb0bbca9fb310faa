// All allocators by name. Options of one kind are an allocator of that kind.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "allocator/cuda_async/cuda_async.h"
#include "allocator/first_fit/first_fit.h"
#include "allocator/platform/platform.h"
#include "allocator/pytorch/caching_allocator.h"
#include "allocator/vmm/vmm.h"
#include "allocator/xla_gpu/bfc.h"

namespace hbmscope::allocator {

// In the order of Kind, of which the last two are xla_gpu's too: other pools of JAX, by the same rules.
using AllocatorOptions = std::variant<xla_gpu::Options, platform::Options, cuda_async::Options, pytorch::Options,
                                      first_fit::Options, vmm::Options>;
enum class Kind : std::uint8_t { xla_gpu, platform, cuda_async, pytorch, naive, vmm, collective, pinned_host };

struct AllocatorRow {
  Kind kind;
  std::string_view name;  // "cuda_async"
  std::string_view what;  // A sentence without a full stop.
};
std::span<const AllocatorRow> all_allocators();
std::optional<Kind> find_allocator(std::string_view name);
Kind kind_of(const AllocatorOptions& options);
std::string_view name_of(const AllocatorOptions& options);
Certainty certainty_of(const AllocatorOptions& options);  // Of xla_gpu: of its version.
// Of a device's pool, as XLA names its own: "GPU_0_bfc", "GPU_collectivememory_0_bfc", "xla_gpu_host_bfc"; "GPU_0_vmm".
std::string pool_name_of(const AllocatorOptions& options, std::uint32_t device);
std::string_view memory_kind_of(const AllocatorOptions& options);  // "device", "host_pinned"
// Whether the upstream must know reserve() and map().
bool needs_reserved_addresses(const AllocatorOptions& options);

// Over an upstream that must outlive it. Options must be possible (xla_gpu::find_fault_of).
std::unique_ptr<Allocator> make_allocator(const AllocatorOptions& options, Upstream& upstream);

}  // namespace hbmscope::allocator
