#include "allocator/reference/libraries/device_pool.h"

#include <cstdlib>

#include <fmt/format.h>

#include "allocator/reference/catalog/jax_settings.h"

namespace hbmscope::allocator {
namespace {

using Refusal = tl::unexpected<std::string>;

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string() : text;
}

void take(const char* name, std::vector<Setting>& settings) {
  if (const char* text = std::getenv(name)) settings.push_back({name, text});
}

double gib_of(std::uint64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(std::uint64_t{1} << 30);
}

}  // namespace

AnnotatedPool::AnnotatedPool(const AllocatorOptions& options, int device, StreamOrdered& pool)
    : name_(pool_name_of(options, static_cast<std::uint32_t>(device))), pool_(pool) {
  heap_ = HBMSCOPE_HEAP(name_.c_str(), "device", static_cast<std::uint32_t>(device));
  if (const auto* xla = std::get_if<xla_gpu::Options>(&options)) {
    const xla_gpu::VersionRules& rules = xla_gpu::rules_of(xla->version);
    if (rules.is_spatial) heap_.flags |= HBMSCOPE_HAS_TWO_ENDS;
    if (rules.default_memory.end == xla_gpu::Tag::upper) flags_ = HBMSCOPE_UPPER_END;
  }
  heap_.user = this;
  heap_.enumerate = [](hbmscope_heap* heap, const hbmscope_listing* listing) {
    static_cast<AnnotatedPool*>(heap->user)->enumerate(*listing);
  };
  hbmscope_heap_add(&heap_);
  pool_.allocator().set_sink(this);
  pool_.set_on_freed([this](std::uint64_t address) { hbmscope_free(&heap_, address, nullptr); });
}

AnnotatedPool::~AnnotatedPool() {
  pool_.allocator().set_sink(nullptr);
  pool_.set_on_freed({});
  hbmscope_heap_remove(&heap_);
}

void AnnotatedPool::report_allocated(const Allocation& block, std::uint64_t requested_bytes, std::uint32_t stream) {
  const hbmscope_block reported{block.address, block.bytes, requested_bytes, stream, flags_, nullptr, nullptr};
  hbmscope_alloc_block(&heap_, &reported);
}

void AnnotatedPool::report_free_requested(std::uint64_t address) {
  hbmscope_free_requested(&heap_, address, nullptr);
}

void AnnotatedPool::report_out_of_memory(std::uint64_t requested_bytes) {
  hbmscope_out_of_memory(&heap_, requested_bytes, "the pool is exhausted", nullptr);
}

void AnnotatedPool::enumerate(const hbmscope_listing& listing) {
  for (const Claim& claim : pool_.allocator().claims()) listing.region(listing.listener, claim.base, claim.bytes);
  for (const PoolBlock& block : pool_.allocator().pool_blocks())
    if (block.in_use && pool_.has_block(block.address))
      listing.block(listing.listener, block.address, block.bytes, block.requested_bytes, flags_, nullptr, nullptr);
}

void AnnotatedPool::on_region_claimed(std::uint32_t, const Claim& claim, std::uint64_t) {
  hbmscope_region(&heap_, claim.base, claim.bytes);
}

void AnnotatedPool::on_region_released(std::uint32_t, const Claim& claim) {
  hbmscope_region_gone(&heap_, claim.base, claim.bytes);
}

PoolWords pool_words_from_environment() {
  PoolWords words{variable("HBMSCOPE_ALLOCATOR"), variable("HBMSCOPE_ALLOCATOR_VERSION"), {}};
  if (words.allocator == "pytorch") {
    take("PYTORCH_CUDA_ALLOC_CONF", words.settings);
  } else if (words.allocator != "naive") {
    for (const std::string_view name : jax_setting_names()) {
      // XLA's other flags do not affect the allocator.
      const std::string text(name);
      if (name != "XLA_FLAGS" || variable("XLA_FLAGS").find(jax_partitioning_flag) != std::string::npos)
        take(text.c_str(), words.settings);
    }
  }
  return words;
}

tl::expected<std::unique_ptr<DevicePool>, std::string> DevicePool::open(int device, const PoolWords& words) {
  const auto opened = cuda::open_device(device);
  if (!opened) return Refusal(opened.error());
  const auto setup = set_up({words.allocator, words.version, words.settings, opened->total_bytes});
  if (!setup) return Refusal(setup.error());
  const Kind kind = kind_of(setup->options);
  if (kind == Kind::collective || kind == Kind::pinned_host)
    return Refusal(fmt::format("{} is no pool for the arrays of a program", name_of(setup->options)));
  if (!setup->upstream.device_bytes)
    return Refusal("TF_FORCE_UNIFIED_MEMORY requests managed memory, which this pool does not support");
  return std::unique_ptr<DevicePool>(new DevicePool(*opened, *setup));
}

DevicePool::DevicePool(const cuda::OpenDevice& device, const Setup& setup)
    : device_(device.ordinal),
      memory_(device, setup.upstream.granularity),
      streams_(device),
      pool_(setup.options, memory_, streams_),
      heap_(setup.options, device.ordinal, pool_) {}

std::string DevicePool::out_of_memory_text(std::uint64_t bytes, const Allocation& answer) {
  if (answer.fault != Fault::none)
    return fmt::format("device {}: {}; so it would with the original", device_, text_from_fault(answer.fault));
  const Statistics now = pool_.allocator().statistics();
  return fmt::format(
      "out of memory: requested {} B ({:.2f} GiB) of {} on device {}; its pool has {:.2f} GiB, {:.2f} GiB of it free "
      "(largest free block {:.2f} GiB){}",
      bytes, gib_of(bytes), heap_.name(), device_, gib_of(now.pool_bytes), gib_of(now.pool_bytes - now.in_use_bytes),
      gib_of(now.largest_free_bytes),
      now.limit_bytes == no_limit ? std::string()
                                  : fmt::format(", and a limit of {:.2f} GiB", gib_of(now.limit_bytes)));
}

tl::expected<std::uint64_t, std::string> DevicePool::allocate(std::uint64_t bytes, Stream stream) {
  const std::scoped_lock lock(mutex_);
  if (pool_.is_capturing(stream))
    return Refusal(
        "this stream is being captured into a graph, and memory of a graph must outlive it, which this pool does not "
        "offer: capture with PyTorch's own allocator");
  const Allocation got = pool_.allocate({.bytes = bytes}, stream);
  if (got.outcome == Outcome::zero_bytes) return 0;
  if (got.outcome != Outcome::allocated) {
    heap_.report_out_of_memory(bytes);
    return Refusal(out_of_memory_text(bytes, got));
  }
  heap_.report_allocated(got, bytes, pool_.number_of(stream));
  return got.address;
}

bool DevicePool::free(std::uint64_t address, Stream stream) {
  const std::scoped_lock lock(mutex_);
  if (pool_.free(address, stream) != FreeOutcome::freed) return false;
  if (pool_.is_deferred(address)) heap_.report_free_requested(address);
  return true;
}

bool DevicePool::record_stream(std::uint64_t address, Stream stream) {
  const std::scoped_lock lock(mutex_);
  return pool_.record_stream(address, stream);
}

bool DevicePool::empty_cache() {
  const std::scoped_lock lock(mutex_);
  auto* caching = dynamic_cast<pytorch::CachingAllocator*>(&pool_.allocator());
  if (caching != nullptr) caching->release_cached();
  return caching != nullptr;
}

}  // namespace hbmscope::allocator
