// All allocators, one row each. Commands, help, errors, the window's demo and the tests of all allocators read this
// table. The type of the options determines the kind of allocator.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <tl/expected.hpp>

#include "allocator/reference/pytorch/caching_allocator.h"
#include "allocator/reference/simple/cuda_async.h"
#include "allocator/reference/simple/first_fit.h"
#include "allocator/reference/simple/platform.h"
#include "allocator/reference/simple/vmm.h"
#include "allocator/reference/xla_gpu/bfc.h"

namespace hbmscope::allocator {

using AllocatorOptions = std::variant<xla_gpu::Options, platform::Options, cuda_async::Options, pytorch::Options,
                                      first_fit::Options, vmm::Options>;
// In the order of AllocatorOptions. The kinds after vmm use xla_gpu's options too: they are other pools of JAX with the
// same rules.
enum class Kind : std::uint8_t { xla_gpu, platform, cuda_async, pytorch, naive, vmm, collective, pinned_host };

// The size of a pool that no settings describe.
struct PoolSize {
  std::uint64_t limit_bytes = 0, device_bytes = 0;
  bool allow_growth = false;  // False: the whole limit is claimed at the first request.
};

struct AllocatorRow {
  Kind kind;
  std::string_view name;  // "cuda_async"
  std::string_view what;  // A sentence without a full stop.
  Certainty (*certainty)(const AllocatorOptions& options);
  std::unique_ptr<Allocator> (*make)(const AllocatorOptions& options, Upstream& upstream);

  // JAX's allocators have versions and are set up by JAX's variables (allocator/reference/catalog).
  bool is_of_jax = false;
  std::string_view jax_setting = {};  // The value of XLA_PYTHON_CLIENT_ALLOCATOR that selects it, if there is one.
  // For other allocators: the one variable that configures them, and the parser of its value. Empty: there is none.
  std::string_view variable = {};
  tl::expected<AllocatorOptions, std::string> (*options_from_variable)(std::string_view value,
                                                                       std::uint64_t device_bytes) = nullptr;
  // The options for a pool of that size. If it is null, JAX's variables and the version decide.
  AllocatorOptions (*options_from_size)(const PoolSize& size) = nullptr;

  std::optional<std::uint64_t> (*limit_bytes)(const AllocatorOptions& options) = nullptr;  // Null: no limit.
  // What requires an upstream with reserve() and map(), as the start of a sentence: "vmm needs". Null: nothing ever
  // does.
  std::string_view (*reserving)(const AllocatorOptions& options) = nullptr;  // Empty: not needed with these options.
  // XLA's name for its pool, "GPU_#_bfc" for device #. If it is empty, "GPU_#_" and the allocator's name.
  std::string_view pool_name = {};
  std::string_view memory_kind = "device";  // Or "host_pinned".
};
std::span<const AllocatorRow> all_allocators();
const AllocatorRow& row_of(Kind kind);
const AllocatorRow& row_of(const AllocatorOptions& options);
std::optional<Kind> find_allocator(std::string_view name);
std::string text_from_allocators();  // "xla_gpu, platform, ... or pinned_host"

Kind kind_of(const AllocatorOptions& options);
std::string_view name_of(const AllocatorOptions& options);
Certainty certainty_of(const AllocatorOptions& options);  // For xla_gpu: that of its version.
// The name of a device's pool: "GPU_0_bfc", "GPU_collectivememory_0_bfc", "xla_gpu_host_bfc"; "GPU_0_vmm".
std::string pool_name_of(const AllocatorOptions& options, std::uint32_t device);

// The upstream must outlive the allocator. Options must be valid (xla_gpu::find_fault_of).
std::unique_ptr<Allocator> make_allocator(const AllocatorOptions& options, Upstream& upstream);

}  // namespace hbmscope::allocator
